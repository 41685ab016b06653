import type { Values } from '@penstock/connector'
import { settingsPath } from '../../../map-rows.ts'
import type { StageKind } from '../stage.ts'

/** Skips rows that do not meet the condition of the connection. */
export const filter: StageKind = {
  name: 'filter',
  passesRaw: true,
  needs: ({ destination }) =>
    textOf(destination.settings) === '' ? undefined : { values: 'the filter is applied to each of them' },
  async settingErrors({ settings, secrets }, columns) {
    const text = textOf(settings)
    if (text === '') return []
    const { filterErrors } = await import('../../../filter-errors.ts')
    return filterErrors(text, columns, `${settingsPath}.filter`, hashKeyIn(secrets))
  },
  async open({ sides }) {
    const text = textOf(sides.settings)
    if (text === '') return undefined
    const [{ compileFilter }, { filterRows }] = await Promise.all([
      import('@penstock/expressions'),
      import('./filter.ts'),
    ])
    let read: ReturnType<typeof compileFilter> | undefined
    return {
      map(mapped, { source }) {
        read ??= compileFilter(text, source.columns, hashKeyIn(sides.destinationSide.secrets))
        // A preview shows all rows if the filter is not valid.
        return read.expression ? filterRows(read.expression, mapped, source) : mapped
      },
    }
  },
}

const textOf = ({ filter }: Values): string => String(filter ?? '').trim()

const hashKeyIn = ({ hashKey }: Values) => ({ hashKey: hashKey === undefined ? undefined : String(hashKey) })
