import { Button, Text } from '@mantine/core'
import type { RecordDefinition } from '@penstock/wire'
import { IconBan, IconColumns3, IconEqual, IconMathFunction } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import classes from '../../../components/fields/picker.module.css'
import { count } from '../../../components/numbers.ts'
import { SearchList } from '../../../components/search-list.tsx'
import { components } from '../../../strings/components.ts'
import { mapper as say } from '../../../strings/mapper.ts'
import { expressionOf, type MappingChoice } from '../mapping/mapping.ts'
import { type Sources, sampleOf } from './shared.ts'

/** Others are shown on request, or found by searching. */
const shownMax = 100

type Option = { readonly key: string; readonly label: string; readonly detail: string; readonly choice: MappingChoice }

/** Everything that can fill a field, searched: columns, one value for all records, or nothing. */
export function SourceMenu({
  record,
  label,
  entry,
  candidates,
  sources,
  only,
  onPick,
}: {
  record: RecordDefinition
  label: string
  entry: MappingChoice | undefined
  candidates: readonly string[]
  sources: Sources
  /** Offers values alone. */
  only: 'value' | undefined
  onPick: (choice: MappingChoice) => void
}) {
  const [text, setText] = useState('')
  const [isWhole, setWhole] = useState(false)
  const { options, matching } = useMemo(
    () => optionsFor({ record, entry, candidates, sources, only, text: text.trim(), isWhole }),
    [record, entry, candidates, sources, only, text, isWhole],
  )
  const of = count(sources.columns?.length ?? 0)
  return (
    <>
      <SearchList
        floats
        label={say.search(label)}
        placeholder={say.typeHint}
        list={say.list(label)}
        text={text}
        options={options}
        usual={text.trim() === '' ? undefined : options[0]}
        keyOf={({ key }) => key}
        isPicked={({ choice }) => isPicked(choice, entry)}
        onText={setText}
        onPick={({ choice }) => onPick(choice)}
      >
        {({ label: name, detail, choice }) => (
          <>
            <Icon choice={choice} />
            <Text size="sm" truncate flex={1} title={name}>
              {name}
            </Text>
            <Text size="xs" c="dimmed" truncate maw="50%">
              {detail}
            </Text>
          </>
        )}
      </SearchList>
      <div className={classes.foot}>
        <Text size="xs" c="dimmed" role="status">
          {sources.columns && only === undefined && say.found(count(matching), of)}
        </Text>
        {!isWhole && matching > shownMax && (
          <Button size="compact-xs" variant="subtle" onClick={() => setWhole(true)}>
            {components.showMore(count(matching - shownMax))}
          </Button>
        )}
      </div>
    </>
  )
}

function optionsFor({
  record: { values, required },
  entry,
  candidates,
  sources: { columns, samples },
  only,
  text,
  isWhole,
}: {
  record: RecordDefinition
  entry: MappingChoice | undefined
  candidates: readonly string[]
  sources: Sources
  only: 'value' | undefined
  text: string
  isWhole: boolean
}): { options: Option[]; matching: number } {
  const searched = text.toLowerCase()
  const suits = (name: string) => name.toLowerCase().includes(searched)
  const columnOf = (column: string, detail = sampleOf(samples, column)): Option => ({
    key: `column ${column}`,
    label: column,
    detail,
    choice: { kind: 'column', column },
  })
  const fixedOf = (value: string): Option => ({
    key: `value ${value}`,
    label: say.always(value),
    detail: say.alwaysHelp,
    choice: { kind: 'value', value },
  })
  const first = new Set(candidates)
  const all = [...new Set(columns)].filter((column) => column !== '' && suits(column))
  const named = only
    ? []
    : [...all.filter((column) => first.has(column)), ...all.filter((column) => !first.has(column))]
  const typed = columns || only || text === '' ? [] : [{ ...columnOf(text, say.typedHelp), label: say.typed(text) }]
  const fixed = values ? values.filter(suits).map(fixedOf) : text === '' ? [] : [fixedOf(text)]
  const empty: Option[] =
    only || required || text !== ''
      ? []
      : [{ key: 'empty', label: say.leaveEmpty, detail: '', choice: { kind: 'empty' } }]
  const expression: Option[] =
    only || (text !== '' && !say.expression.toLowerCase().includes(searched))
      ? []
      : [{ key: 'expression', label: say.expression, detail: say.expressionHelp, choice: expressionOf(entry) }]
  const shown = named
    .slice(0, isWhole ? named.length : shownMax)
    .map((column) => (first.has(column) && text === '' ? columnOf(column, say.mayBeMeant) : columnOf(column)))
  return {
    options: [...typed, ...(values ? fixed : []), ...shown, ...(values ? [] : fixed), ...expression, ...empty],
    matching: named.length,
  }
}

const isPicked = (choice: MappingChoice, entry: MappingChoice | undefined): boolean => {
  if (choice.kind === 'empty' || !entry || entry.kind !== choice.kind) return choice.kind === (entry?.kind ?? 'empty')
  if (choice.kind === 'expression') return true
  return choice.kind === 'column'
    ? entry.kind === 'column' && entry.column === choice.column
    : entry.kind === 'value' && entry.value === choice.value
}

function Icon({ choice }: { choice: MappingChoice }) {
  const Of = icons[choice.kind]
  return <Of size={16} aria-hidden style={{ flexShrink: 0 }} />
}

const icons = { column: IconColumns3, expression: IconMathFunction, value: IconEqual, empty: IconBan }
