/** Messages of runners are not trusted. */

/** The members of an object that a runner sent; none of anything else. */
export const membersOf = (sent: unknown): Readonly<Record<string, unknown>> =>
  typeof sent === 'object' && sent !== null ? (sent as Record<string, unknown>) : {}
