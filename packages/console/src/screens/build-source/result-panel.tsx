import { Checkbox, Group, Select, Text } from '@mantine/core'
import { buildOperation as say } from '../../strings/build-operation.ts'
import { isObject, keysOf, pathText } from './answer-json.ts'
import { CodeInput } from './code-input.tsx'
import { CommaList } from './comma-list.tsx'
import { Panel } from './panel.tsx'
import type { EditPart, PartSettings } from './use-parts.ts'

type Way = keyof typeof say.entriesBy
const ways = Object.entries(say.entriesBy).map(([value, label]) => ({ value, label }))

/** The settings of `rows` that count for each way in which entries name their rows. */
const settingsOf: Readonly<Record<Way, readonly string[]>> = {
  none: [],
  index: ['at', 'index', 'first', 'rejected', 'again', 'reason', 'field'],
  key: ['at', 'key', 'column', 'rejected', 'again', 'reason', 'field'],
  order: ['at', 'rejected', 'again', 'reason', 'field'],
}

/** The meaning of an answer for the rows of its request. */
export function ResultPanel({
  operation,
  columns,
  edit,
}: {
  operation: PartSettings
  /** The names of the columns. */
  columns: readonly string[]
  edit: EditPart
}) {
  const result = isObject(operation.result) ? operation.result : {}
  const rows = isObject(result.rows) ? result.rows : undefined
  const by: Way =
    rows === undefined ? 'none' : rows.index !== undefined ? 'index' : rows.key !== undefined ? 'key' : 'order'
  const pick = (next: Way) => {
    const kept = Object.entries(rows ?? {}).filter(([key]) => settingsOf[next].includes(key))
    const usual = { index: { index: 'entry.index' }, key: { key: `entry.${columns[0] ?? 'id'}`, column: columns[0] } }
    const added = next === 'index' || next === 'key' ? Object.entries(usual[next]) : []
    const needed =
      next === 'order' && rows?.rejected === undefined ? [['rejected', 'entry.error != null'] as const] : []
    edit.setEntries(['result', 'rows'], next === 'none' ? [] : [...kept, ...added, ...needed])
  }
  const text = (at: 'result' | 'rows', key: string, label: string, description?: string) => (
    <CodeInput
      label={label}
      description={description}
      value={String((at === 'rows' ? rows : result)?.[key] ?? '')}
      onChange={(typed) => edit.set(['result', ...(at === 'rows' ? ['rows'] : []), key], typed || undefined)}
    />
  )
  return (
    <Panel step={3} title={say.meaning}>
      <Text size="xs" c="dimmed">
        {say.meaningHelp}
      </Text>
      <Select
        size="xs"
        label={say.entries}
        data={ways}
        value={by}
        allowDeselect={false}
        onChange={(next) => pick((next ?? 'none') as Way)}
      />
      {by !== 'none' && (
        <>
          <Group gap="xs" grow align="flex-start">
            <CodeInput
              label={say.at}
              value={keysOf(rows?.at).join('.')}
              onChange={(typed) => edit.set(['result', 'rows', 'at'], typed ? pathText(typed.split('.')) : undefined)}
            />
            {by === 'index' && text('rows', 'index', say.index, say.indexHelp)}
            {by === 'key' && text('rows', 'key', say.key, say.keyHelp)}
            {by === 'key' && (
              <Select
                size="xs"
                label={say.keyColumn}
                data={[...columns]}
                value={typeof rows?.column === 'string' ? rows.column : null}
                allowDeselect={false}
                onChange={(next) => edit.set(['result', 'rows', 'column'], next ?? '')}
              />
            )}
          </Group>
          {by === 'index' && (
            <Checkbox
              size="xs"
              label={say.firstIsOne}
              checked={rows?.first === 1}
              onChange={({ currentTarget }) =>
                edit.set(['result', 'rows', 'first'], currentTarget.checked ? 1 : undefined)
              }
            />
          )}
          <Group gap="xs" grow align="flex-start">
            {text('rows', 'reason', say.entryReason, say.entryReasonHelp)}
            {text('rows', 'rejected', say.rejected, say.rejectedHelp)}
          </Group>
        </>
      )}
      <Group gap="xs" grow align="flex-start">
        {text('result', 'success', say.success, say.successHelp)}
        {text('result', 'reason', say.reason, say.reasonHelp)}
      </Group>
      <CommaList
        label={say.refused}
        description={say.refusedHelp}
        values={result.refused ?? [400, 422]}
        onChange={(next) => {
          const statuses = next.map(Number)
          const isUsual = statuses.join() === '400,422' || statuses.length === 0
          if (statuses.every(Number.isSafeInteger)) edit.set(['result', 'refused'], isUsual ? undefined : statuses)
        }}
      />
    </Panel>
  )
}
