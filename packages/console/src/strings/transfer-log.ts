/** The texts about the log of a transfer. */
export const transferLog = {
  title: 'What happened',
  copy: 'Copy log',
  shown: 'Lines',
  all: 'All lines',
  problems: 'Waits and errors',
  noProblems: 'No waits and no errors.',
  copied: 'Copied',
  none: 'There is no log yet. Lines appear once a worker starts the transfer.',
  attempt: (n: number) => `Attempt ${n}`,
  more: (n: number) => (n === 1 ? '1 more line is in the API.' : `${n} more lines are in the API.`),
}
