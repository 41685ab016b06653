/**
 * The limit of a transfer that sends only changed rows: reads a file with the connector, and computes the digests of its rows, in
 * one process that does nothing else. `node bench/transfers/hash-alone.ts <folder> <file>` prints the seconds, and the processor
 * time.
 */
import { basename } from 'node:path'
import { loadConnector } from '@penstock/connectors/load'
import { sideSettings } from '../../packages/engine/src/settings.ts'
import { RowDigester, recordWords } from '../../packages/engine/src/transfer/stages/changed-rows/row-digests.ts'

const [folder = '', file = ''] = process.argv.slice(2)
const connector = await loadConnector('local-folder')
const begun = performance.now()
const reader = await connector.source?.open?.({
  secrets: { folder },
  settings: sideSettings(connector, 'Source', { files: basename(file) }),
  signal: new AbortController().signal,
  localFolders: [folder],
  cursor: undefined,
} as never)
if (!reader) throw new Error('The connector reads nothing')
let digester: RowDigester | undefined
let rows = 0
let sum = 0
for await (const chunk of reader.read()) {
  digester ??= new RowDigester(Buffer.alloc(32, 7), chunk.columns, [0], { salt: 'salt' })
  const digests = new Uint32Array(chunk.rows.length * recordWords)
  for (const [i, row] of chunk.rows.entries()) digester.write(row, digests, i)
  rows += chunk.rows.length
  sum ^= digests[0] ?? 0
}
await reader.close()
const used = process.cpuUsage()
process.stdout.write(
  `${JSON.stringify({ seconds: (performance.now() - begun) / 1000, processor: (used.user + used.system) / 1e6, rows, sum })}\n`,
)
