import { Chip, Group, Select } from '@mantine/core'
import { dataTypeCategories, dataTypes, roles } from '@penstock/wire'
import { useMemo } from 'react'
import { useAddress } from '../../components/address.ts'
import { Toolbar } from '../../components/page.tsx'
import { catalogue as say } from '../../strings/catalogue.ts'
import { components } from '../../strings/components.ts'
import { kindOf } from './use-catalogue.ts'
import type { KnownConnector } from './vocabulary.ts'

/** Filters of the catalogue. All of them are in the address; unknown terms there are ignored. @param connectors undefined: not read yet */
export function useFilters(connectors: readonly KnownConnector[] | undefined) {
  const { value, change } = useAddress()
  const term = <T extends string>(name: string, terms: readonly T[]) => terms.find((one) => one === value(name))
  const kinds = useMemo(() => [...new Set(connectors?.map(kindOf))].sort((a, b) => a.localeCompare(b)), [connectors])
  const query = {
    supportedType: term('role', roles),
    dataTypeCategory: term('category', dataTypeCategories),
    kind: term('kind', kinds),
    dataType: term('data', dataTypes),
  }
  const moves = value('moves') === 'yes'
  const fresh = value('added') === 'no'
  const narrows = moves || fresh || Object.values(query).some((one) => one !== undefined)
  return {
    /** The sentence, or the words to search for; empty without one. */
    text: value('q'),
    setText: (text: string) => change({ q: text }),
    query,
    /** The kinds of platforms as people call them. */
    kinds,
    /** Whether a connector has the terms of the filters. */
    keeps: ({ supportedType, dataTypeCategory, dataType, ...of }: KnownConnector) =>
      (query.supportedType === undefined || supportedType.includes(query.supportedType)) &&
      (query.dataTypeCategory ?? dataTypeCategory) === dataTypeCategory &&
      (query.kind === undefined || query.kind === kindOf(of)) &&
      (query.dataType ?? dataType) === dataType,
    /** Only connectors that this deployment can move data through. */
    moves,
    /** Only connectors that are not added yet. */
    fresh,
    /** Whether a filter is set. */
    narrows,
    any: value('q') !== '' || narrows,
    set: (name: string, next: string) => change({ [name]: next }),
    clear: () => change({ q: '', role: '', category: '', kind: '', data: '', moves: '', added: '' }),
  }
}

export function Filters({ query, kinds, moves, fresh, set }: ReturnType<typeof useFilters>) {
  return (
    <Toolbar>
      <Term name="role" label={say.role} terms={roles} value={query.supportedType} onPick={set} />
      <Term
        name="category"
        label={say.category}
        terms={dataTypeCategories}
        value={query.dataTypeCategory}
        onPick={set}
      />
      <Term name="kind" label={say.kind} terms={kinds} value={query.kind} onPick={set} />
      <Term name="data" label={say.dataType} terms={dataTypes} value={query.dataType} onPick={set} />
      <Group gap="xs" mih={36}>
        <Chip variant="outline" checked={moves} onChange={(on) => set('moves', on ? 'yes' : '')}>
          {say.movesData}
        </Chip>
        <Chip variant="outline" checked={fresh} onChange={(on) => set('added', on ? 'no' : '')}>
          {say.notAdded}
        </Chip>
      </Group>
    </Toolbar>
  )
}

function Term({
  name,
  label,
  terms,
  value,
  onPick,
}: {
  name: string
  label: string
  terms: readonly string[]
  value: string | undefined
  onPick: (name: string, term: string) => void
}) {
  return (
    <Select
      aria-label={label}
      placeholder={label}
      data={terms.map((term) => ({ value: term, label: components.term(term) }))}
      value={value ?? null}
      onChange={(term) => onPick(name, term ?? '')}
      clearable
      clearButtonProps={{ 'aria-label': say.anyOf(label) }}
      comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
      style={{ flex: '1 1 9rem', maxWidth: 240 }}
    />
  )
}
