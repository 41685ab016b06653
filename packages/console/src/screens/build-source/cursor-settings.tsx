import { Group, Select, Stack, TextInput } from '@mantine/core'
import { buildSource as say } from '../../strings/build-source.ts'
import { isObject } from './answer-json.ts'
import { WholeNumber } from './code-input.tsx'
import type { EditPart, PartSettings } from './use-parts.ts'

const ways = Object.entries(say.cursorBy).map(([value, label]) => ({ value, label }))
const formats = Object.entries(say.formats).map(([value, label]) => ({ value, label }))

/** The time range of a stream that can be read incrementally. */
export function CursorSettings({ stream, edit }: { stream: PartSettings; edit: EditPart }) {
  const cursor = isObject(stream.cursor) ? stream.cursor : undefined
  const set = (key: string, value: unknown) => edit.set(['cursor', key], value === '' ? undefined : value)
  const days = (key: string, label: string) => (
    <WholeNumber label={label} value={cursor?.[key]} onChange={(next) => set(key, next)} />
  )
  return (
    <Stack gap="xs">
      <Select
        size="xs"
        label={say.cursor}
        data={ways}
        value={cursor === undefined ? 'none' : 'time'}
        allowDeselect={false}
        onChange={(next) => edit.set(['cursor'], next === 'time' ? { format: 'time' } : undefined)}
      />
      {cursor !== undefined && (
        <>
          <Group gap="xs" grow align="flex-start">
            <Select
              size="xs"
              label={say.format}
              data={formats}
              value={String(cursor.format ?? 'time')}
              allowDeselect={false}
              onChange={(next) => edit.set(['cursor', 'format'], next ?? 'time')}
            />
            <TextInput
              size="xs"
              label={say.startDay}
              type="date"
              value={String(cursor.start ?? '')}
              onChange={({ currentTarget }) => set('start', currentTarget.value)}
            />
          </Group>
          <Group gap="xs" grow align="flex-start">
            {days('stepDays', say.stepDays)}
            {days('lookBackDays', say.lookBackDays)}
          </Group>
        </>
      )}
    </Stack>
  )
}
