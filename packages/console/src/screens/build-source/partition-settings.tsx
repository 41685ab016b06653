import { Group, Select, Stack } from '@mantine/core'
import { buildSource as say } from '../../strings/build-source.ts'
import { isObject } from './answer-json.ts'
import { CodeInput } from './code-input.tsx'
import { CommaList } from './comma-list.tsx'
import type { EditPart, PartSettings } from './use-parts.ts'

const ways = Object.entries(say.partitionsBy).map(([value, label]) => ({ value, label }))

/** Values for each of which a stream is read. */
export function PartitionSettings({
  stream,
  edit,
  others,
}: {
  stream: PartSettings
  edit: EditPart
  /** The names of the other streams. */
  others: readonly string[]
}) {
  const partitions = isObject(stream.partitions) ? stream.partitions : undefined
  const by = partitions === undefined ? 'none' : 'values' in partitions ? 'values' : 'stream'
  const pick = (next: string | null) => {
    if (next === 'values') edit.set(['partitions'], { values: ['1'] })
    else if (next === 'stream') edit.set(['partitions'], { stream: others[0] ?? '', field: 'id' })
    else edit.set(['partitions'], undefined)
  }
  return (
    <Stack gap="xs">
      <Select
        size="xs"
        label={say.partitions}
        data={ways.map((way) => ({ ...way, disabled: way.value === 'stream' && others.length === 0 }))}
        value={by}
        allowDeselect={false}
        onChange={pick}
      />
      {by === 'values' && (
        <CommaList
          label={say.partitionValues}
          description={say.partitionValuesHelp}
          values={partitions?.values}
          onChange={(next) => edit.set(['partitions', 'values'], next)}
        />
      )}
      {by === 'stream' && (
        <Group gap="xs" grow align="flex-start">
          <Select
            size="xs"
            label={say.partitionStream}
            data={[...others]}
            value={String(partitions?.stream ?? '') || null}
            allowDeselect={false}
            onChange={(next) => edit.set(['partitions', 'stream'], next ?? '')}
          />
          <CodeInput
            label={say.partitionField}
            value={String(partitions?.field ?? '')}
            onChange={(text) => edit.set(['partitions', 'field'], text)}
          />
        </Group>
      )}
    </Stack>
  )
}
