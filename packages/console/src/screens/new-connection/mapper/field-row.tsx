import { ActionIcon, Button, Group, Text } from '@mantine/core'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import { memo, useId, useState } from 'react'
import { mapper as say } from '../../../strings/mapper.ts'
import { newConnection } from '../../../strings/new-connection.ts'
import { groupOf, isFilled, type MappedField, type Need } from '../mapping/mapped-fields.ts'
import type { ColumnChoice, ExpressionChoice, MappingChoice } from '../mapping/mapping.ts'
import { wordsOfReading } from '../mapping/words.ts'
import { mappingPath, useChecks } from './expression/checks.ts'
import { ExpressionEditor } from './expression/expression-editor.tsx'
import { FieldFindings, FieldSamples } from './field-findings.tsx'
import { FieldFix } from './field-fix.tsx'
import { FieldOptions } from './field-options.tsx'
import classes from './mapper.module.css'
import type { OnSet, Sources } from './shared.ts'
import { SourceButton } from './source-button.tsx'

/** Values of a field that are offered as buttons. */
const buttonsMax = 6

/** One field of the destination: what fills it, its values before and after, and what is still to be decided. */
export const FieldRow = memo(function FieldRow({
  field,
  sources,
  isReading,
  onSet,
}: {
  field: MappedField
  sources: Sources
  isReading: boolean
  onSet: OnSet
}) {
  const { record, entry, need, candidates, lint } = field
  const [isOpen, setOpen] = useState(false)
  const path = `${mappingPath}.${record.name}`
  // The editor shows it at its place.
  const isShownThere = useChecks().problemOf(path, entry?.kind === 'expression' ? entry.expression : '') !== undefined
  const id = useId()
  const label = say.labelOf(record.name)
  const form = record.hashed?.[0] && newConnection.digest[record.hashed[0]]
  const group = groupOf(field)
  return (
    <li
      className={classes.row}
      data-need={need ? (need.kind === 'required' ? 'required' : 'open') : undefined}
      data-mapper-row={record.name}
      onKeyDown={(event) => {
        if (event.key.toLowerCase() !== 'd' || !isMade(entry) || !isShortcut(event)) return
        event.preventDefault()
        setOpen(true)
        requestAnimationFrame(() =>
          document.getElementById(id)?.querySelector<HTMLElement>('[data-mapper-default]')?.focus(),
        )
      }}
    >
      <div className={classes.cells}>
        <div>
          <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }} title={record.description}>
            {label}
          </Text>
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            <Text span inherit ff="monospace">
              {record.name}
            </Text>
            {[record.required && say.isRequired, form].filter(Boolean).map((text) => ` · ${text}`)}
          </Text>
        </div>
        <div>
          <Group gap={4} wrap="nowrap" align="flex-start">
            <div style={{ flex: 1, minWidth: 0 }}>
              <SourceButton
                record={record}
                label={label}
                entry={entry}
                candidates={candidates}
                sources={sources}
                isBlocked={need !== undefined}
                {...(need ? { describedBy: `${id}-need` } : {})}
                onPick={(choice) => onSet(record.name, choice)}
              />
            </div>
            {isMade(entry) && (
              <ActionIcon
                variant="subtle"
                color="gray"
                size={36}
                aria-label={say.options(label)}
                aria-expanded={isOpen}
                aria-controls={isOpen ? id : undefined}
                onClick={() => setOpen(!isOpen)}
              >
                <IconAdjustmentsHorizontal size={16} aria-hidden />
              </ActionIcon>
            )}
          </Group>
          <Text size="xs" c="dimmed" mt={2} style={{ overflowWrap: 'anywhere' }}>
            {howOf(field)}
          </Text>
        </div>
        <FieldSamples label={label} entry={entry} lint={lint} isReading={isReading} />
        <FieldFindings record={record} lint={lint} />
      </div>
      {entry?.kind === 'expression' && (
        <div style={{ marginTop: 10 }}>
          <ExpressionEditor
            label={say.expressionOf(label)}
            path={path}
            text={entry.expression}
            onChange={(expression) => onSet(record.name, { ...entry, expression })}
          />
        </div>
      )}
      {need && !(isShownThere && need.kind === 'refused') && (
        <Decide id={`${id}-need`} field={field} label={label} need={need} onSet={onSet} />
      )}
      <FieldFix field={field} onSet={onSet} />
      {group === 'suggested' && <Candidates field={field} label={label} onSet={onSet} />}
      {isOpen && isMade(entry) && (
        <FieldOptions
          key={entry.kind === 'column' ? entry.column : entry.kind}
          id={id}
          record={record}
          label={label}
          entry={entry}
          onChange={(next) => onSet(record.name, next)}
        />
      )}
    </li>
  )
})

/** Whether values are made of the columns of each record. */
const isMade = (entry: MappingChoice | undefined): entry is ColumnChoice | ExpressionChoice =>
  entry?.kind === 'column' || entry?.kind === 'expression'

/** Whether a key is one of the mapper: no text is being typed. */
export const isShortcut = (event: {
  target: EventTarget
  ctrlKey: boolean
  metaKey: boolean
  altKey: boolean
}): boolean =>
  !event.ctrlKey &&
  !event.metaKey &&
  !event.altKey &&
  !(event.target instanceof HTMLElement && event.target.matches('input, textarea, select, [contenteditable]'))

function howOf({ entry, isByName }: MappedField): string {
  if (!isFilled(entry) || !entry) return ''
  if (entry.kind === 'value') return say.forAll
  if (entry.kind === 'empty') return say.leftEmpty
  return [
    entry.kind === 'expression' ? say.byExpression : isByName ? say.byName : say.chosen,
    ...wordsOfReading(entry),
  ].join(' · ')
}

/** The problem in words, and answers to click. */
function Decide({
  id,
  field: { record, candidates },
  label,
  need,
  onSet,
}: {
  id: string
  field: MappedField
  label: string
  need: Need
  onSet: OnSet
}) {
  const { name, values = [] } = record
  const asks = need.kind === 'required' || need.kind === 'value' || need.kind === 'gone'
  return (
    <div className={classes.panel}>
      <Text size="sm" id={id}>
        {textOf(need, label, values.length > 0)}
      </Text>
      <Group gap="xs" mt={need.kind === 'refused' ? 0 : 8}>
        {(asks || need.kind === 'together') &&
          candidates.map((column) => (
            <Button
              key={column}
              size="xs"
              variant="default"
              aria-label={say.use(column, label)}
              onClick={() => onSet(name, { kind: 'column', column })}
            >
              {column}
            </Button>
          ))}
        {asks &&
          values.slice(0, buttonsMax).map((value) => (
            <Button key={value} size="xs" variant="default" onClick={() => onSet(name, { kind: 'value', value })}>
              {say.labelOf(value)}
            </Button>
          ))}
        {need.kind === 'together' && (
          <Button
            size="xs"
            variant="subtle"
            onClick={() => {
              for (const other of need.others) onSet(other, { kind: 'empty' })
            }}
          >
            {say.leaveOthers(need.others.map(say.labelOf).join(', '))}
          </Button>
        )}
      </Group>
    </div>
  )
}

function textOf(need: Need, label: string, hasValues: boolean): string {
  switch (need.kind) {
    case 'required':
      return hasValues ? say.pickValue : say.required
    case 'together':
      return say.together(need.others.map(say.labelOf).join(', '), label.toLowerCase())
    case 'gone':
      return say.gone(need.column)
    case 'value':
      return say.missingValue
    case 'expression':
      return say.missingExpression
    case 'answer':
      return say.chooseAudience
    case 'refused':
      return say.refused(label, need.message)
  }
}

function Candidates({
  field: { record, candidates },
  label,
  onSet,
}: {
  field: MappedField
  label: string
  onSet: OnSet
}) {
  return (
    <Group gap="xs" mt={6}>
      <Text size="xs" c="dimmed">
        {say.mayBe}
      </Text>
      {candidates.map((column) => (
        <Button
          key={column}
          size="compact-sm"
          variant="default"
          aria-label={say.use(column, label)}
          onClick={() => onSet(record.name, { kind: 'column', column })}
        >
          {column}
        </Button>
      ))}
    </Group>
  )
}
