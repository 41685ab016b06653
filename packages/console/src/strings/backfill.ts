/** The texts of a backfill. */
export const backfill = {
  action: 'Backfill a range',
  title: (name: string) => `Backfill of ${name}`,
  from: 'First day',
  to: 'Last day',
  missing: 'Enter a day.',
  order: 'The last day must not be before the first day.',
  start: 'Start the backfill',
  started: (from: string, to: string) => `The backfill of ${from} to ${to} was started`,
  help: (source: string) =>
    `Reads these days of ${source} once. The next transfer continues where it would have without the backfill. Scheduled transfers wait until it has ended.`,
  again:
    'Rows that the destination already has are sent again. If it writes by a key, they are replaced. Otherwise they are duplicated.',
  none: (source: string) => `${source} has no dates or times to select a range by.`,
  happened: (from: string, to: string, status: string) => `Backfill ${from} to ${to}: ${status.toLowerCase()}`,
  tag: (from: string, to: string) => `Backfill ${from} to ${to}`,
} as const
