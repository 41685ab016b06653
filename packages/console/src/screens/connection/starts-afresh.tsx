import { Alert, Text } from '@mantine/core'
import type { ConnectionDetails } from '@penstock/wire'
import { IconRefreshAlert } from '@tabler/icons-react'
import { useRead } from '../../api/queries.ts'
import { changesOf, type FormField, type FormValues, valuesOf } from '../../components/fields/form-field.ts'
import { connection as say } from '../../strings/connection.ts'
import { SlotOf } from './change-log.tsx'

type Side = {
  readonly fields: readonly FormField[]
  readonly values: FormValues
  readonly configurationId: string
}

/** Warns, before they are saved, that settings differ to which the cursor of the connection belongs. */
export function StartsAfresh({
  connection,
  changes,
}: {
  connection: Pick<ConnectionDetails, 'accountId' | 'id' | 'srcConfigurationId' | 'destConfigurationId'>
  changes: Readonly<Record<'src' | 'dest', Side>>
}) {
  const { accountId, id } = connection
  const state = useRead('getConnectionState', { accountId, id }).data?.reply
  const labelsOf = (key: 'src' | 'dest') => {
    const { fields, values, configurationId } = changes[key]
    const side = key === 'src' ? say.source : say.destination
    const changed = changesOf(valuesOf(fields), values, fields)
    return [
      ...(configurationId === connection[`${key}ConfigurationId`] ? [] : [say.configurationOf(side)]),
      ...fields
        .filter(({ name, keepsState }) => !keepsState && name in changed)
        .map(({ label }) => say.labelOf(side, label)),
    ]
  }
  const ofSource = labelsOf('src')
  const labels = [...ofSource, ...labelsOf('dest')]
  if (!state?.cursor || labels.length === 0) return null
  return (
    <Alert color="yellow" icon={<IconRefreshAlert aria-hidden />} title={say.startsAfresh} role="alert">
      <Text size="sm">{say.startsAfreshHelp(labels)}</Text>
      {ofSource.length > 0 && <SlotOf connection={connection} when="whenChanged" />}
    </Alert>
  )
}
