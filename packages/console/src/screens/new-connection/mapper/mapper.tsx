import { Button, Group, Kbd, Paper, SegmentedControl, Stack, Text, TextInput, VisuallyHidden } from '@mantine/core'
import type { Preview, RecordDefinition, SideDefinition } from '@penstock/wire'
import { IconSearch } from '@tabler/icons-react'
import { type KeyboardEvent, useCallback, useDeferredValue, useMemo, useRef, useState } from 'react'
import { count } from '../../../components/numbers.ts'
import { mapper as say } from '../../../strings/mapper.ts'
import {
  type FieldGroup,
  groupOf,
  isFilled,
  leftToDecide,
  type MappedField,
  type Matches,
  mapFields,
  matchesText,
  openGroups,
  unusedColumns,
} from '../mapping/mapped-fields.ts'
import { type Lines, type MappingChoice, withEntry } from '../mapping/mapping.ts'
import { GroupTitle, NothingIdentifies } from './field-groups.tsx'
import { questionFields, questionsOf } from './field-questions.ts'
import { FieldRow, isShortcut } from './field-row.tsx'
import { goToNeed, step, useKeptFocus } from './focus.ts'
import classes from './mapper.module.css'
import { AskQuestions } from './questions.tsx'
import { UnusedColumns } from './unused-columns.tsx'

const groups: readonly FieldGroup[] = ['need', 'suggested', 'matched', 'open']
type Shown = 'all' | FieldGroup

/** Maps the columns of a source to the fields of a destination: what needs the user first, then what is matched. */
export function Mapper({
  records,
  lines,
  columns,
  samples,
  matches,
  lint,
  isReading,
  refused,
  creates,
  creating,
  onChange,
}: {
  records: readonly RecordDefinition[]
  lines: Lines
  columns: readonly string[] | undefined
  samples: Preview | undefined
  matches: Matches
  lint: Preview['lint']
  /** The values for these lines are on their way. */
  isReading: boolean
  refused: Readonly<Record<string, string>>
  creates: SideDefinition['creates']
  /** Fields that name what is created otherwise. */
  creating: readonly string[]
  onChange: (lines: Lines) => void
}) {
  const [shown, setShown] = useState<Shown>('all')
  const [text, setText] = useState('')
  const [showsOpen, setShowsOpen] = useState(false)
  const search = useRef<HTMLInputElement>(null)
  const searched = useDeferredValue(text.trim().toLowerCase())
  const sources = useMemo(() => ({ columns, samples }), [columns, samples])
  const fields = useMemo(
    () => mapFields({ records, lines, columns, matches, lint, refused, creating }),
    [records, lines, columns, matches, lint, refused, creating],
  )
  const byName = useMemo(() => new Map(fields.map((field) => [field.record.name, field])), [fields])
  const questions = useMemo(() => questionsOf(records, creates, creating), [records, creates, creating])
  const asked = useMemo(() => new Set(questionFields(questions).map(({ name }) => name)), [questions])
  // A question is asked above the list; what a column of it becomes is shown in the list.
  const listed = useMemo(
    () =>
      fields.filter(
        ({ record, entry }) =>
          !asked.has(record.name) || (entry?.kind === 'column' && entry.column !== '') || entry?.kind === 'expression',
      ),
    [fields, asked],
  )
  const none = useMemo(() => openGroups(listed), [listed])
  const unused = useMemo(() => unusedColumns(columns ?? [], lines), [columns, lines])
  const openRecords = useMemo(() => listed.flatMap(({ record, entry }) => (isFilled(entry) ? [] : [record])), [listed])

  const latest = useRef({ lines, onChange })
  latest.current = { lines, onChange }
  const set = useCallback((field: string, choice: MappingChoice) => {
    // Several answers can come before the page is drawn again.
    const { lines: before, onChange: change } = latest.current
    const next = withEntry(before, field, choice)
    latest.current = { lines: next, onChange: change }
    change(next)
  }, [])

  const leaveEmpty = (rows: readonly MappedField[]) => {
    for (const { record } of rows) set(record.name, { kind: 'empty' })
  }
  const inGroup = (group: FieldGroup) => listed.filter((field) => groupOf(field) === group)
  const left = leftToDecide(fields)
  useKeptFocus(lines)

  const found = (field: MappedField) => matchesText(field, searched, say.labelOf(field.record.name))
  const isSearching = searched !== ''
  const rowsOf = (group: FieldGroup) => inGroup(group).filter((field) => !isSearching || found(field))
  const press = (event: KeyboardEvent<HTMLElement>) => {
    if (!isShortcut(event)) return
    if (event.key === '/') {
      event.preventDefault()
      search.current?.focus()
    } else if (event.key.toLowerCase() === 'n') goToNeed(event.currentTarget, event.shiftKey ? -1 : 1)
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const at = event.target instanceof HTMLElement ? event.target.dataset.mapperField : undefined
      if (at === undefined) return
      event.preventDefault()
      step(event.currentTarget, at, event.key === 'ArrowDown' ? 1 : -1)
    }
  }
  const counts = Object.fromEntries(groups.map((group) => [group, inGroup(group).length]))
  const visible = groups.filter((group) => (shown === 'all' || shown === group) && rowsOf(group).length > 0)
  return (
    <Stack gap="md" onKeyDown={press}>
      <AskQuestions questions={questions} fields={byName} sources={sources} onSet={set} />
      <VisuallyHidden role="status">{say.left(left)}</VisuallyHidden>
      <div className={classes.layout}>
        <Stack gap="sm" miw={0}>
          <Group justify="space-between" gap="sm">
            <SegmentedControl
              aria-label={say.show}
              size="xs"
              value={shown}
              onChange={(next) => setShown(next as Shown)}
              data={[
                { value: 'all', label: `${say.all} ${count(listed.length)}` },
                ...groups
                  .filter((group) => (counts[group] ?? 0) > 0)
                  .map((group) => ({ value: group, label: `${say[group]} ${count(counts[group] ?? 0)}` })),
              ]}
              style={{ maxWidth: '100%', overflowX: 'auto' }}
            />
            <TextInput
              ref={search}
              size="sm"
              aria-label={say.searchFields}
              placeholder={say.searchFields}
              leftSectionPointerEvents="none"
              leftSection={<IconSearch size={16} aria-hidden />}
              rightSection={<Kbd size="xs">/</Kbd>}
              rightSectionPointerEvents="none"
              value={text}
              onChange={({ currentTarget }) => setText(currentTarget.value)}
              style={{ flex: '1 1 14rem', maxWidth: '22rem' }}
            />
          </Group>
          <Paper withBorder style={{ overflow: 'hidden' }}>
            {none.length > 0 && !isSearching && (shown === 'all' || shown === 'need') && (
              <NothingIdentifies fields={none.flatMap(({ fields }) => fields)} onSet={set} />
            )}
            {visible.map((group) => {
              const rows = rowsOf(group)
              const isFolded = group === 'open' && !showsOpen && !isSearching && shown !== 'open'
              return (
                <section key={group} aria-label={group === 'open' ? say.openTitle : say[group]}>
                  <GroupTitle
                    title={group === 'open' ? say.openTitle : say[group]}
                    n={rows.length}
                    help={group === 'need' ? say.needHelp : group === 'suggested' ? say.suggestedHelp : undefined}
                  >
                    {group === 'open' && !isSearching && shown !== 'open' && (
                      <Button
                        size="compact-xs"
                        variant="subtle"
                        aria-expanded={showsOpen}
                        onClick={() => setShowsOpen(!showsOpen)}
                      >
                        {showsOpen ? say.hideOpen : say.showOpen}
                      </Button>
                    )}
                    {group === 'suggested' && !isSearching && (
                      <Button size="compact-xs" variant="subtle" onClick={() => leaveEmpty(rows)}>
                        {say.leaveTheseEmpty}
                      </Button>
                    )}
                    {isFolded && (
                      <Text size="xs" c="dimmed" truncate style={{ flex: '1 1 12rem' }}>
                        {rows.map(({ record }) => say.labelOf(record.name)).join(', ')}
                      </Text>
                    )}
                  </GroupTitle>
                  {!isFolded && (
                    <ul className={classes.rows}>
                      {rows.map((field) => (
                        <FieldRow
                          key={field.record.name}
                          field={field}
                          sources={sources}
                          isReading={isReading}
                          onSet={set}
                        />
                      ))}
                    </ul>
                  )}
                </section>
              )
            })}
            {visible.length === 0 && (
              <Text size="sm" c="dimmed" p="md" role="status">
                {say.noneFound}
              </Text>
            )}
          </Paper>
          <Text size="xs" c="dimmed" visibleFrom="md">
            {say.keys}: {say.keysHelp}
          </Text>
        </Stack>
        {columns && <UnusedColumns unused={unused} sources={sources} open={openRecords} onSet={set} />}
      </div>
    </Stack>
  )
}
