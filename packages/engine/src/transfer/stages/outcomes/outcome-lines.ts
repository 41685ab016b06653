import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import type { OutcomePiece, TransferOutcomes } from '../../../protocol.ts'
import { storable } from '../../../storable.ts'
import type { Outcome, OutcomeColumns, OutcomeDetails } from './outcome-rows.ts'

/**
 * Outcomes in their stored form: lines of JSON, like the events of a stream. The common beginning of all lines of a piece is
 * written once, in a line before them that starts with `^`.
 */

/** Outcomes of one piece, and characters of its lines, which are at most three times as many bytes. */
const pieceMax = { rows: 2_000, length: 340 * 1024 } as const
/** Maximum characters of the answer of a platform about one row, and of a reason. */
const answerLengthMax = 4_096
const reasonLengthMax = 1_000
const compress = promisify(zstdCompress)
const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Puts outcomes into compressed pieces of a bounded size, in their order. @param isWanted whether an outcome is recorded */
export async function packOutcomes(
  { rows, outcomes, keys, details }: OutcomeColumns,
  of: TransferOutcomes,
  nowMs: number,
  isWanted: (outcome: Outcome) => boolean,
): Promise<readonly OutcomePiece[]> {
  const begin = beginOf(of, nowMs)
  const pieces: Promise<OutcomePiece>[] = []
  // One text for all lines, because encoding each line separately takes three times as long.
  let [lines, count] = [begin, 0]
  const end = () => {
    if (count > 0) pieces.push(pieceOf(lines, count))
    ;[lines, count] = [begin, 0]
  }
  for (let at = 0; at < outcomes.length; at++) {
    const outcome = outcomes[at] as Outcome
    if (!isWanted(outcome)) continue
    const row = rows[at] ?? null
    const rest = details.size > 0 ? details.get(at) : undefined
    lines += `\n${row === null ? '' : `"row":${row},`}"outcome":"${outcome}"${rest ? detailsOf(rest) : ''},"key":${keys[at]}}]`
    count++
    if (count === pieceMax.rows || lines.length > pieceMax.length) end()
  }
  end()
  return Promise.all(pieces)
}

const pieceOf = async (lines: string, count: number): Promise<OutcomePiece> => ({
  count,
  lines: (await compress(Buffer.from(lines, 'utf8'), fast)).toString('base64'),
})

function beginOf({ transferId, part, connectionId, connectionName, isTest }: TransferOutcomes, nowMs: number): string {
  const about = `"connection_id":${text(connectionId)},"connection_name":${text(connectionName)},"transfer_id":${text(transferId)}`
  return `^[${nowMs},{${about},${part === 1 ? '' : `"part":${part},`}${isTest ? '"test":true,' : ''}`
}

function detailsOf({ reason, field, answer }: OutcomeDetails): string {
  let line = ''
  if (reason !== undefined) line += `,"reason":${text(reason.slice(0, reasonLengthMax))}`
  if (field !== undefined) line += `,"field":${text(field)}`
  if (answer === undefined) return line
  const whole = JSON.stringify(answer)
  return `${line},"answer":${whole.length > answerLengthMax ? text(`${whole.slice(0, answerLengthMax)}…`) : whole}`
}

const text = (value: string): string => JSON.stringify(storable(value))
