/** A time as the wire has it: Unix time in whole seconds. */
export const unixSeconds = (timestamp: Date): number => Math.floor(timestamp.getTime() / 1000)
