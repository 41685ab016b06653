import { Button, Select } from '@mantine/core'
import { connectionStatuses } from '@penstock/wire'
import { lazy, Suspense, useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useAddress } from '../../components/address.ts'
import { useDialog } from '../../components/form-dialog.tsx'
import { Lines } from '../../components/lines.tsx'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { AddButton } from '../../components/reasoned.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { useAccountId } from '../../shell/account.ts'
import { connections as say } from '../../strings/connections.ts'
import { standing as words } from '../../strings/standing.ts'
import { Endings } from './endings.tsx'
import { LabelFilters } from './label-filters.tsx'
import { PickAccount } from './pick-account.tsx'
import { useRememberedList } from './remembered-list.ts'
import { SavedFilters } from './saved-filters.tsx'
import { Selection } from './selection.tsx'
import { ConnectionTable } from './table.tsx'
import { endingOf, type Listed, readConnections, useConnections } from './use-connections.ts'
import { useSideNames } from './use-side-names.ts'

const FailingList = lazy(async () => ({ default: (await import('../failing/failing-list.tsx')).FailingList }))

export const readAhead = readConnections

/** The connections of a sub-account, or of the whole organization. */
export function Component() {
  const accountId = useAccountId()
  const address = useAddress()
  const { value, change } = address
  const ending = endingOf(address)
  const { connections, transfers, schedules, labels } = useConnections(accountId)
  const names = useSideNames(accountId, connections.data?.reply ?? noRows, transfers)
  useRememberedList()
  const [ids, setIds] = useState<ReadonlySet<string>>(noIds)
  // Rows that are no longer shown are not acted on.
  const picked = connections.data?.reply.filter(({ id }) => ids.has(id)) ?? []
  const isNarrowed = ['q', 'status', 'tags', 'owner'].some((name) => value(name) !== '')
  return (
    <Page title={say.title} actions={<NewConnection accountId={accountId} />}>
      <Endings accountId={accountId} />
      {!ending && (
        <Toolbar>
          <SearchBox label={say.search} />
          <StatusFilter />
          <LabelFilters accountId={accountId} />
          <SavedFilters accountId={accountId} />
        </Toolbar>
      )}
      {ending === 'failing' ? (
        <Suspense fallback={<Lines lines={8} />}>
          <FailingList accountId={accountId} />
        </Suspense>
      ) : (
        <ConnectionTable
          query={connections}
          transfers={transfers}
          schedules={schedules}
          labels={labels}
          names={names}
          showsAccount={accountId === undefined}
          showsVolume={!ending}
          picked={ids}
          onPick={setIds}
          empty={
            ending ? (
              <Empty title={say.noneEnded} help={say.noneEndedHelp} />
            ) : isNarrowed ? (
              <Empty
                title={say.noneFound}
                help={say.noneFoundHelp}
                action={
                  <Button variant="default" onClick={() => change({ q: '', status: '', tags: '', owner: '' })}>
                    {say.showAll}
                  </Button>
                }
              />
            ) : (
              <Empty title={say.none} help={say.noneHelp} action={<NewConnection accountId={accountId} />} />
            )
          }
        />
      )}
      <Selection picked={picked} onClear={() => setIds(noIds)} />
    </Page>
  )
}

const noIds: ReadonlySet<string> = new Set()
const noRows: readonly Listed[] = []

function StatusFilter() {
  const { value, change } = useAddress()
  return (
    <Select
      aria-label={say.status}
      data={[
        { value: '', label: say.allStatuses },
        ...connectionStatuses.map((status) => ({ value: status, label: words.connection[status] })),
      ]}
      value={value('status')}
      onChange={(status) => change({ status: status ?? '' })}
      allowDeselect={false}
      checkIconPosition="right"
      w={170}
    />
  )
}

/** Leads to the making of a connection, of the sub-account that is picked already or is picked now. */
function NewConnection({ accountId }: { accountId: string | undefined }) {
  const forbidden = useForbidden('createConnection')
  const [dialog, open] = useDialog()
  if (accountId) {
    return (
      <AddButton to={`/accounts/${accountId}/connections/new`} reason={forbidden}>
        {say.new}
      </AddButton>
    )
  }
  return (
    <>
      <AddButton reason={forbidden} onClick={() => open((close) => <PickAccount onClose={close} />)}>
        {say.new}
      </AddButton>
      {dialog}
    </>
  )
}
