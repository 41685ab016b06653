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
    'Rows that the destination already has are sent again: with a key they replace each other, and without one they are there twice.',
  none: (source: string) => `${source} has no days or times by which a range could be read.`,
  happened: (from: string, to: string, status: string) => `Backfill ${from} to ${to}: ${status.toLowerCase()}`,
  tag: (from: string, to: string) => `Backfill ${from} to ${to}`,
} as const
