/** The limits of what an organization has and keeps. */
export type QuotaSettings = {
  /** Without deleted ones: in an organization, in a sub-account, in an organization. */
  readonly accounts: number
  readonly connections: number
  readonly enabledSchedules: number
  /** Rows that are delivered in a calendar month. 0 means no limit. */
  readonly rowsPerMonth: number
  /** Requests to one process. 0 means no limit. */
  readonly requestsPerMinute: number
  readonly uploadFiles: number
  /** MiB. */
  readonly uploadsMb: number
  readonly rejectsMb: number
  readonly digestsMb: number
}

/** Above any limit that makes sense, and below what an integer holds. */
export const quotaMax = 10_000_000
