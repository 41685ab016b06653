/** A time as the wire has it: Unix time in whole seconds. */
export const unixSeconds = (timestamp: Date): number => Math.floor(timestamp.getTime() / 1000)

/** The same for a time that can be null. */
export const maybeSeconds = (timestamp: Date | null): number | null => timestamp && unixSeconds(timestamp)
