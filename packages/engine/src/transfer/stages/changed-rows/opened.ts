import { ConnectorError } from '@penstock/connector'
import type { Sides } from '../../sides.ts'
import type { StageContext } from '../stage.ts'
import { ChangedRows } from './changed-rows.ts'
import { keyWith } from './row-keys.ts'

const opened = new WeakMap<Sides, Promise<ChangedRows | undefined>>()

/**
 * The digests of the rows that the destination has, which several stages of a session share; `undefined` if all rows are sent.
 * @throws ConnectorError if the settings do not allow it
 */
export function openChangedRows(context: StageContext): Promise<ChangedRows | undefined> {
  const known = opened.get(context.sides) ?? open(context)
  opened.set(context.sides, known)
  return known
}

async function open({ sides, state, host, onProgress }: StageContext): Promise<ChangedRows | undefined> {
  if (!state.digests) return undefined
  if (sides.replaces) {
    const message = `${sides.names.destination} replaces everything that it has, so that rows which are left out would be gone. Send all rows, or do not replace rows.`
    throw new ConnectorError('invalid_setting', message, { side: 'Destination' })
  }
  const { settings } = sides
  const keyNames = keyWith(sides.deliver, state.digests.keys ? { ...settings, sendRows: 'Mirror' } : settings)
  return ChangedRows.open({ host, state, keyNames, settings, onProgress, windowOf: sides.windowOf })
}
