import type { Values } from '@penstock/connector'
import { sideSettings } from '@penstock/engine'
import { type BodyOf, errorOfRange, limits } from '@penstock/wire'
import type { Catalogue } from '../connectors/catalogue.ts'
import { refuse } from '../refusal.ts'
import type { RunnableRow } from './queries.ts'
import { replacesAll } from './sides.ts'

/** Backfills: transfers that read a range of their source, beside the cursor of the connection. */

/**
 * Refuses a backfill that the source or the destination cannot do, or whose range is invalid: with `invalid_request`, or with
 * `backfill_not_supported`.
 * @param configs the settings of this transfer, which override those of the connection
 */
export function requireBackfill(
  catalogue: Catalogue,
  row: RunnableRow,
  { srcConfig, destConfig }: { srcConfig: Values; destConfig: Values },
  { backfill: range, test }: BodyOf<'startTransfer'>,
): void {
  if (!range) return
  if (test) refuse('invalid_request', [{ field: 'body.test', message: 'cannot be combined with backfill' }])
  const wrong = errorOfRange(range, limits.backfillDaysMax)
  if (wrong) refuse('invalid_request', [{ field: `body.backfill.${wrong.field}`, message: wrong.message }])
  const source = catalogue.known(row.srcConnectorId)
  const { name } = source
  const cannot: (field: string, message: string) => never = (field, message) =>
    refuse('backfill_not_supported', [{ field, message }])
  const backfill = source.source?.backfill
  if (!backfill) cannot('srcConnector', `${name} has no days or times by which a range of it could be read`)
  const settings = sideSettings(source, 'Source', { ...row.srcConfig, ...srcConfig })
  const whyNot = backfill.whyNot?.(settings)
  if (whyNot !== undefined) cannot('srcConnectionConfig', `${name} ${whyNot}`)
  if (backfill.by === 'days' && range.from.length > 'YYYY-MM-DD'.length) {
    cannot('body.backfill', `${name} has whole days: give the range in days, as YYYY-MM-DD`)
  }
  if (replacesAll(catalogue, { ...row, destConfig: { ...row.destConfig, ...destConfig } })) {
    cannot('destConnectionConfig', 'replaces everything with what it is sent, and so with the records of the range')
  }
}
