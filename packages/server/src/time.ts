/** A moment as the wire has it: Unix time in whole seconds. */
export const unixSeconds = (moment: Date): number => Math.floor(moment.getTime() / 1000)
