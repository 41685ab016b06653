import { Button, Card, Group, Radio, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import type { RecordDefinition } from '@penstock/wire'
import { useId } from 'react'
import { mapper as say } from '../../../strings/mapper.ts'
import { isFilled, type MappedField } from '../mapping/mapped-fields.ts'
import type { MappingChoice } from '../mapping/mapping.ts'
import type { Questions } from './field-questions.ts'
import { focusField } from './focus.ts'
import classes from './mapper.module.css'
import type { OnSet, Sources } from './shared.ts'
import { SourceButton } from './source-button.tsx'

type Asked = { fields: ReadonlyMap<string, MappedField>; sources: Sources; onSet: OnSet }

/** Values of a question that stand beside each other. */
const segmentsMax = 4

/** Questions about all records, before columns are matched: the audience, the action on people, the event. */
export function AskQuestions({ questions: { audience, action, event }, ...asked }: Asked & { questions: Questions }) {
  if (!audience && !action && !event) return null
  return (
    <Card withBorder padding="md" component="section" aria-label={say.questions}>
      <div className={classes.questions}>
        {audience && <Audience {...asked} {...audience} />}
        {action && <Question {...asked} title={say.action} record={action} />}
        {event && <Question {...asked} title={say.event} record={event} placeholder={say.eventPlaceholder} />}
      </div>
    </Card>
  )
}

/** Whether the answer differs by record. */
const isByColumns = (entry: MappingChoice | undefined): boolean =>
  entry?.kind === 'column' || entry?.kind === 'expression'

type Way = 'own' | 'name' | 'id' | 'column'

function Audience({
  name,
  id,
  otherwise,
  fields,
  sources,
  onSet,
}: Asked & { name?: RecordDefinition; id?: RecordDefinition; otherwise?: 'created' | 'settings' }) {
  const entryOf = (record: RecordDefinition | undefined) => record && fields.get(record.name)?.entry
  const [ofName, ofId] = [entryOf(name), entryOf(id)]
  const both = [name, id].filter((record) => record !== undefined)
  const need = both.map((record) => fields.get(record.name)?.need).find((one) => one !== undefined)
  const byColumn = [
    { record: name, entry: ofName },
    { record: id, entry: ofId },
  ].find(({ entry }) => isByColumns(entry))
  const isOwn = otherwise !== undefined && need?.kind !== 'answer'
  const filled: Way | undefined = byColumn
    ? 'column'
    : ofName?.kind === 'value'
      ? 'name'
      : ofId?.kind === 'value'
        ? 'id'
        : undefined
  const way = filled ?? (isOwn ? 'own' : undefined)
  const choose = (next: Way) => {
    for (const record of both) if (next === 'own' || isFilled(entryOf(record))) onSet(record.name, { kind: 'empty' })
    const record = next === 'id' ? id : (name ?? id)
    if (!record || next === 'own') return
    if (next === 'column') onSet(record.name, { kind: 'column', column: '' })
    else onSet(record.name, { kind: 'value', value: '' })
  }
  const ways: { value: Way; label: string; help?: string }[] = [
    ...(otherwise === 'created' ? [{ value: 'own' as const, label: say.audienceOwn, help: say.audienceOwnHelp }] : []),
    ...(otherwise === 'settings' ? [{ value: 'own' as const, label: say.audienceSettings }] : []),
    ...(name ? [{ value: 'name' as const, label: say.audienceName }] : []),
    ...(id ? [{ value: 'id' as const, label: say.audienceId }] : []),
    { value: 'column', label: say.audienceColumn },
  ]
  const typed = way === 'name' ? name : way === 'id' ? id : undefined
  const typedEntry = entryOf(typed)
  return (
    <Stack gap={6} data-need={need ? 'required' : undefined}>
      <Radio.Group
        label={say.audience}
        labelProps={{ fw: 600, mb: 6 }}
        value={way ?? ''}
        onChange={(next) => next !== way && choose(next as Way)}
        error={need?.kind === 'answer' && say.chooseAudience}
      >
        <Stack gap={6} pb={need?.kind === 'answer' ? 6 : 0}>
          {ways.map(({ value, label, help }, at) => (
            <Radio
              key={value}
              size="sm"
              value={value}
              label={label}
              description={help}
              data-mapper-field={at === 0 ? both[0]?.name : undefined}
            />
          ))}
        </Stack>
      </Radio.Group>
      {typed && (
        <TextInput
          aria-label={say.labelOf(typed.name)}
          placeholder={say.labelOf(typed.name)}
          value={typedEntry?.kind === 'value' ? typedEntry.value : ''}
          autoComplete="off"
          spellCheck={false}
          onChange={({ currentTarget }) => onSet(typed.name, { kind: 'value', value: currentTarget.value })}
        />
      )}
      {byColumn?.record && <ByColumn record={byColumn.record} fields={fields} sources={sources} onSet={onSet} />}
    </Stack>
  )
}

/** One value for all records, or a column. */
function Question({
  title,
  record,
  placeholder,
  fields,
  sources,
  onSet,
}: Asked & { title: string; record: RecordDefinition; placeholder?: string }) {
  const titleId = useId()
  const { name, values } = record
  const entry = fields.get(name)?.entry
  const value = entry?.kind === 'value' ? entry.value : ''
  const set = (next: string) => onSet(name, { kind: 'value', value: next })
  const isByColumn = isByColumns(entry)
  const need = fields.get(name)?.need
  return (
    <Stack gap={6} align="stretch" data-need={need ? 'required' : undefined}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" fw={600} id={titleId}>
          {title}
        </Text>
        <Button
          size="compact-xs"
          variant="subtle"
          aria-label={`${title} ${isByColumn ? say.sameForAll : say.byColumn}`}
          onClick={() => {
            if (isByColumn) return set(values?.includes('add') ? 'add' : '')
            onSet(name, { kind: 'column', column: '' })
            requestAnimationFrame(() => focusField(name))
          }}
        >
          {isByColumn ? say.sameForAll : say.byColumn}
        </Button>
      </Group>
      {isByColumn ? (
        <ByColumn record={record} fields={fields} sources={sources} onSet={onSet} />
      ) : values && values.length <= segmentsMax ? (
        <SegmentedControl
          aria-labelledby={titleId}
          fullWidth
          data={values.map((one) => ({ value: one, label: say.labelOf(one) }))}
          value={value}
          onChange={set}
        />
      ) : values ? (
        <Select
          aria-labelledby={titleId}
          data={values.map((one) => ({ value: one, label: say.labelOf(one) }))}
          value={value || null}
          allowDeselect={false}
          onChange={(next) => next && set(next)}
        />
      ) : (
        <TextInput
          aria-labelledby={titleId}
          placeholder={placeholder}
          data-mapper-field={name}
          value={value}
          autoComplete="off"
          spellCheck={false}
          onChange={({ currentTarget }) => set(currentTarget.value)}
        />
      )}
      {need && (
        <Text size="xs" c="var(--mantine-color-error)">
          {need.kind === 'refused' ? say.refused(say.labelOf(name), need.message) : say.answerThis}
        </Text>
      )}
    </Stack>
  )
}

/** The column; what its values become is in the list of fields. */
function ByColumn({ record, fields, sources, onSet }: Asked & { record: RecordDefinition }) {
  const field = fields.get(record.name)
  return (
    <SourceButton
      record={record}
      label={say.labelOf(record.name)}
      entry={field?.entry?.kind === 'column' && field.entry.column === '' ? undefined : field?.entry}
      candidates={field?.candidates ?? []}
      sources={sources}
      isBlocked={field?.need !== undefined}
      onPick={(choice) => onSet(record.name, choice)}
    />
  )
}
