import { Pill, Select, TextInput } from '@mantine/core'
import { type AuditEvent, type OperationId, operations } from '@penstock/wire'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { SearchBox } from '../../components/search-box.tsx'
import { audit as say } from '../../strings/audit.ts'
import { actionOf, targetOf } from './words.ts'

/** Everything of the address that narrows the log. */
export const filterNames = ['q', 'from', 'until', 'action', 'actorId', 'targetId'] as const

/** As many people and API keys can be chosen; others are found by the search for their name. */
const choicesMax = 500

/** Filters of the log: by names, never by identifiers. @param events the page that is shown, which knows names too */
export function Filters({ events }: { events: readonly AuditEvent[] }) {
  const { value, change } = useAddress()
  const targetId = value('targetId')
  const target = events.find((event) => event.targetId === targetId)
  const inWords = say.target((target && targetOf(target)) ?? say.thisResource)
  return (
    <>
      <SearchBox label={say.search} />
      <Person events={events} />
      <Action />
      {(['from', 'until'] as const).map((name) => (
        <TextInput
          key={name}
          type="date"
          label={say[name]}
          value={value(name)}
          onChange={({ currentTarget }) => change({ [name]: currentTarget.value }, { replace: true })}
          w={150}
        />
      ))}
      {targetId && (
        <Pill
          size="lg"
          withRemoveButton
          removeButtonProps={{ 'aria-label': say.remove(inWords), 'aria-hidden': false, tabIndex: 0 }}
          onRemove={() => change({ targetId: '' })}
        >
          {inWords}
        </Pill>
      )}
    </>
  )
}

/** The actor: people and API keys that exist, and the one that is chosen. */
function Person({ events }: { events: readonly AuditEvent[] }) {
  const { value, change } = useAddress()
  const page = { query: { size: choicesMax } }
  const people = useRead('listUsers', page, { enabled: useForbidden('listUsers') === undefined })
  const keys = useRead('listClients', page, { enabled: useForbidden('listClients') === undefined })
  const chosen = value('actorId')
  const users = (people.data?.reply ?? []).map(({ id, name, email }) => ({ value: id, label: name || email }))
  const clients = (keys.data?.reply ?? []).map(({ id, name }) => ({ value: id, label: name ?? say.unnamedKey }))
  const isListed = [...users, ...clients].some((one) => one.value === chosen)
  const name = events.find(({ actor }) => actor.id === chosen)?.actor.name
  const removed = chosen && !isListed ? [{ value: chosen, label: name ?? say.removedActor }] : []
  return (
    <Select
      aria-label={say.person}
      placeholder={say.everyone}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': say.remove(say.person) }}
      nothingFoundMessage={say.nobody}
      data={[
        { group: say.people, items: [...users, ...removed] },
        { group: say.keys, items: clients },
      ].filter(({ items }) => items.length > 0)}
      value={chosen || null}
      onChange={(next) => change({ actorId: next ?? '' })}
      w={190}
    />
  )
}

/** Operations that change something, or read records; what the service and the operator do has other names. */
const audited = (Object.keys(operations) as OperationId[]).filter((id) => {
  const { method, reads }: { method: string; reads?: true } = operations[id]
  return method !== 'GET' && !reads
})

function Action() {
  const { value, change } = useAddress()
  const action = value('action')
  const actions = new Set<string>([...audited, ...(action ? [action] : [])])
  const data = [...actions]
    .map((id) => ({ value: id, label: actionOf(id) }))
    .sort((a, b) => a.label.localeCompare(b.label))
  return (
    <Select
      aria-label={say.action}
      placeholder={say.allActions}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': say.remove(say.action) }}
      data={data}
      value={action || null}
      onChange={(next) => change({ action: next ?? '' })}
      w={190}
    />
  )
}
