/** Whether the calendar has a day, as YYYY-MM-DD: the 30th of February would become a day of March. */
export function isDay(day: string): boolean {
  const at = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day)
}
