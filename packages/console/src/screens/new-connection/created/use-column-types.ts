import type { ConnectionDetails, Preview } from '@penstock/wire'
import { useMemo } from 'react'
import { textOf, typesField } from '../settings.ts'
import { useWizard } from '../wizard.ts'
import { proposedReadings, type Readings } from './readings.ts'
import { type ChosenTypes, readTypes, writeTypes } from './types.ts'

const noReadings: Readings = []

/**
 * The types of the columns of a table that is created: as typed, as saved, or as proposed for a connection without a mapping.
 * @param types the types that can be chosen; none: the destination has none
 * @param samples the records of the source; undefined while they are not known
 */
export function useColumnTypes(
  { destConnectionConfig }: ConnectionDetails,
  types: readonly string[],
  { samples, isNew }: { samples: Preview | undefined; isNew: boolean },
) {
  const { draft, keys, setText } = useWizard()
  const creates = destConnectionConfig.createTable === true
  const { readings = noReadings, columns } = samples ?? {}
  // A table that exists has types of its own, and texts among them.
  const proposes = isNew && creates
  const proposed = useMemo(
    () => proposedReadings(proposes ? readings : noReadings, columns ?? []),
    [proposes, readings, columns],
  )
  // Files have another setting of this name.
  const saved = types.length > 0 ? textOf(destConnectionConfig[typesField]) : ''
  const text = draft.texts[keys.types] ?? (saved || writeTypes(proposed.types))
  return {
    creates,
    readings,
    /** The lines of the mapping that read columns as proposed. */
    proposed: proposed.lines,
    /** The text of the setting. */
    saved,
    chosen: readTypes(text),
    choose: (chosen: ChosenTypes) => {
      const next = writeTypes(chosen)
      // Without a draft, proposals come back.
      setText(keys.types, next === saved && proposed.lines.length === 0 ? undefined : next)
    },
  }
}
