import { Chip, Group, Select } from '@mantine/core'
import { type CatalogueEntry, dataTypeCategories, dataTypes, platformTypes, roles } from '@penstock/wire'
import { useAddress } from '../../components/address.ts'
import { Toolbar } from '../../components/page.tsx'
import { catalogue as say } from '../../strings/catalogue.ts'
import { components } from '../../strings/components.ts'

/** Filters of the catalogue. All of them are in the address; unknown terms there are ignored. */
export function useFilters() {
  const { value, change } = useAddress()
  const term = <T extends string>(name: string, terms: readonly T[]) => terms.find((one) => one === value(name))
  const query = {
    supportedType: term('role', roles),
    dataTypeCategory: term('category', dataTypeCategories),
    platformType: term('platform', platformTypes),
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
    /** Whether a connector has the terms of the filters. */
    keeps: ({ supportedType, dataTypeCategory, platformType, dataType }: CatalogueEntry) =>
      (query.supportedType === undefined || supportedType.includes(query.supportedType)) &&
      (query.dataTypeCategory ?? dataTypeCategory) === dataTypeCategory &&
      (query.platformType ?? platformType) === platformType &&
      (query.dataType ?? dataType) === dataType,
    /** Only connectors that this deployment can move data through. */
    moves,
    /** Only connectors that are not added yet. */
    fresh,
    /** Whether a filter is set. */
    narrows,
    any: value('q') !== '' || narrows,
    set: (name: string, next: string) => change({ [name]: next }),
    clear: () => change({ q: '', role: '', category: '', platform: '', data: '', moves: '', added: '' }),
  }
}

export function Filters({ query, moves, fresh, set }: ReturnType<typeof useFilters>) {
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
      <Term name="platform" label={say.platformType} terms={platformTypes} value={query.platformType} onPick={set} />
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
