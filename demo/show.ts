import { placeInWords, type Reject, type Transfer } from '@penstock/wire'

/** Output for a person at the terminal. */

const barCells = 30
const number = new Intl.NumberFormat('en')
const isTerminal = process.stdout.isTTY

/** A progress bar in a terminal. Elsewhere it prints nothing, because each state would be a separate line. */
export function showProgress(what: string, { progress, records, status }: Transfer): void {
  if (!isTerminal) return
  const part = progress ?? 0
  const full = Math.round(part * barCells)
  const bar = '█'.repeat(full) + '░'.repeat(barCells - full)
  process.stdout.write(
    `\r${what.padEnd(24)} ${bar} ${String(Math.round(part * 100)).padStart(3)} %  ${number.format(records.read)} read, ${status}   `,
  )
}

/** The record summary, and some of the rejected records, each with its reason. */
export function showAccount(
  what: string,
  { status, records, skipped, startedTime, finishedTime, error }: Transfer,
  rejects: readonly Reject[],
): void {
  const seconds = (finishedTime ?? 0) - (startedTime ?? 0)
  if (isTerminal) process.stdout.write('\r\x1b[2K')
  const left = Object.entries(skipped).filter(([, count]) => count > 0)
  const sum = left.reduce((total, [, count]) => total + count, records.accepted + records.rejected)
  const terms = ['accepted', 'rejected', ...left.map(([reason]) => reason)].join(' + ')
  const lines = [
    `${what}: ${status}${error ? `: ${error.message}` : ''}${seconds > 0 ? ` after ${seconds} s` : ''}`,
    ...[...Object.entries(records), ...left].map(
      ([stage, count]) => `  ${stage.padEnd(9)} ${number.format(count).padStart(9)}`,
    ),
    `  ${sum === records.read ? `read = ${terms}` : 'THE ACCOUNT DOES NOT ADD UP'}`,
    ...rejects.map(({ place, reason }) => `  ${place ? placeInWords(place) : 'unknown row'}: ${reason}`),
    '',
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
