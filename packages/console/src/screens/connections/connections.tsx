import { Button, Select } from '@mantine/core'
import { connectionStatuses } from '@penstock/wire'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useAddress } from '../../components/address.ts'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { useAccountId } from '../../shell/account.ts'
import { components } from '../../strings/components.ts'
import { connections as say } from '../../strings/connections.ts'
import { PickAccount } from './pick-account.tsx'
import { ConnectionTable } from './table.tsx'
import { readConnections, useConnections } from './use-connections.ts'

export const readAhead = readConnections

/** The connections of a sub-account, or of the whole organization. */
export function Component() {
  const accountId = useAccountId()
  const { value, change } = useAddress()
  const { connections, transfers } = useConnections(accountId)
  const isNarrowed = value('q') !== '' || value('status') !== ''
  return (
    <Page title={say.title} actions={<NewConnection accountId={accountId} />}>
      <Toolbar>
        <SearchBox label={say.search} />
        <StatusFilter />
      </Toolbar>
      <PagedList
        query={connections}
        lines={10}
        empty={
          isNarrowed ? (
            <Empty
              title={say.noneFound}
              help={say.noneFoundHelp}
              action={
                <Button variant="default" onClick={() => change({ q: '', status: '' })}>
                  {say.showAll}
                </Button>
              }
            />
          ) : (
            <Empty title={say.none} help={say.noneHelp} action={<NewConnection accountId={accountId} />} />
          )
        }
      >
        {(reply) => (
          <ConnectionTable connections={reply} transfers={transfers} showsAccount={accountId === undefined} />
        )}
      </PagedList>
    </Page>
  )
}

function StatusFilter() {
  const { value, change } = useAddress()
  return (
    <Select
      aria-label={say.status}
      data={[
        { value: '', label: say.allStatuses },
        ...connectionStatuses.map((status) => ({ value: status, label: components.status[status] })),
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
  const [picks, setPicks] = useState(false)
  const icon = <IconPlus size={18} aria-hidden />
  if (accountId) {
    return (
      <ReasonedButton to={`/accounts/${accountId}/connections/new`} leftSection={icon} reason={forbidden}>
        {say.new}
      </ReasonedButton>
    )
  }
  return (
    <>
      <ReasonedButton leftSection={icon} reason={forbidden} onClick={() => setPicks(true)}>
        {say.new}
      </ReasonedButton>
      {picks && <PickAccount onClose={() => setPicks(false)} />}
    </>
  )
}
