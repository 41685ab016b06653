import { Button, SegmentedControl } from '@mantine/core'
import type { AddedConnector } from '@penstock/wire'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { pageSize } from '../../components/pager.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { pathOf, useAccount } from '../../shell/account.ts'
import { connectors as say } from '../../strings/connectors.ts'
import { CheckConnector } from './check-connector.tsx'
import { ConfigureConnector } from './configure-connector.tsx'
import { ConnectorTable } from './connector-table.tsx'
import { RemoveConnector } from './remove-connector.tsx'

const configuredOf: Readonly<Record<string, boolean>> = { yes: true, no: false }

const listOf = (accountId: string, { value, page }: ListAddress) => ({
  accountId,
  query: {
    q: value('q') || undefined,
    configured: configuredOf[value('configured')],
    size: pageSize,
    offset: page * pageSize,
  },
})
export const readAhead = (accountId = '', place: ListAddress) =>
  readOnce('listAddedConnectors', listOf(accountId, place))

/** The connectors that a sub-account has added. `?configure=` and `?check=` open one of them from anywhere. */
export function Component() {
  const { accountId } = useAccount()
  const address = useAddress()
  const { value, change } = address
  const [removed, setRemoved] = useState<AddedConnector>()
  const q = value('q')
  const configured = value('configured')
  const query = useRead('listAddedConnectors', listOf(accountId, address), { keep: true })
  const forbidden = useForbidden('addConnectors')
  // Which part of the list is shown stays as it is while one of it is looked at.
  const look = (at: { configure?: string; check?: string }) =>
    change({ configure: '', check: '', ...at, page: value('page') })
  const add = (
    <ReasonedButton
      to={pathOf(accountId, 'catalogue')}
      leftSection={<IconPlus size={18} aria-hidden />}
      reason={forbidden}
    >
      {say.add}
    </ReasonedButton>
  )
  return (
    <Page title={say.title} help={say.help} actions={add}>
      <Toolbar>
        <SearchBox label={say.search} />
        <SegmentedControl
          aria-label={say.configuration}
          value={configured in configuredOf ? configured : ''}
          onChange={(next) => change({ configured: next })}
          data={[
            { value: '', label: say.all },
            { value: 'yes', label: say.configured },
            { value: 'no', label: say.notConfigured },
          ]}
        />
      </Toolbar>
      <PagedList
        query={query}
        lines={8}
        empty={
          q || configured ? (
            <Empty
              title={say.noneFound}
              action={
                <Button variant="default" onClick={() => change({ q: '', configured: '' })}>
                  {say.showAll}
                </Button>
              }
            />
          ) : (
            <Empty title={say.none} help={say.noneHelp} action={add} />
          )
        }
      >
        {(reply) => <ConnectorTable connectors={reply} accountId={accountId} onLook={look} onRemove={setRemoved} />}
      </PagedList>
      {value('configure') && (
        <ConfigureConnector
          key={value('configure')}
          accountId={accountId}
          connectorId={value('configure')}
          onClose={() => look({})}
          onCheck={() => look({ check: value('configure') })}
        />
      )}
      {value('check') && (
        <CheckConnector
          key={value('check')}
          accountId={accountId}
          connectorId={value('check')}
          onClose={() => look({})}
          onConfigure={() => look({ configure: value('check') })}
        />
      )}
      {removed && <RemoveConnector accountId={accountId} connector={removed} onClose={() => setRemoved(undefined)} />}
    </Page>
  )
}
