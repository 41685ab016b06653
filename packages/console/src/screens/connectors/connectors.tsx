import { Button, SegmentedControl } from '@mantine/core'
import { addedConnectorOrders } from '@penstock/wire'
import { lazy, Suspense } from 'react'
import { useForbidden } from '../../api/me.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { useDialog } from '../../components/form-dialog.tsx'
import { Lines } from '../../components/loaded.tsx'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { foundOf } from '../../components/pager.tsx'
import { AddButton } from '../../components/reasoned.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { pathOf, useAccount } from '../../shell/account.ts'
import { connectors as say } from '../../strings/connectors.ts'
import { Cured, readCured, useIsCuredRead } from '../failing/cured.tsx'
import { ConnectorTable } from './connector-table.tsx'
import { useConfigurations } from './of-account.ts'
import { RemoveConnector } from './remove-connector.tsx'

// Forms are a tenth of what a browser would load for the list.
const CheckConnector = lazy(async () => ({ default: (await import('./check-connector.tsx')).CheckConnector }))
const Configurations = lazy(async () => ({ default: (await import('./configurations.tsx')).Configurations }))
const ConfigureConnector = lazy(async () => ({
  default: (await import('./configure-connector.tsx')).ConfigureConnector,
}))

const configuredOf: Readonly<Record<string, boolean>> = { yes: true, no: false }

const listOf = (accountId: string, address: ListAddress) => ({
  accountId,
  query: {
    ...foundOf(address),
    configured: configuredOf[address.value('configured')],
    sort: addedConnectorOrders.find((one) => one === address.value('sort')),
  },
})
export const readAhead = (accountId = '', place: ListAddress) =>
  Promise.all([readOnce('listAddedConnectors', listOf(accountId, place)), readCured(accountId)])

/** The connectors that a sub-account has added. `?configure=` and `?check=` open one of them from anywhere. */
export function Component() {
  const { accountId } = useAccount()
  const address = useAddress()
  const { value, change } = address
  const [dialog, open] = useDialog()
  const q = value('q')
  const configured = value('configured')
  const isCuredRead = useIsCuredRead(accountId)
  const query = useRead('listAddedConnectors', listOf(accountId, address), { keep: true })
  const forbidden = useForbidden('addConnectors')
  // Which part of the list is shown stays as it is while one of it is looked at.
  const look = (at: { configure?: string; check?: string; configuration?: string; configurations?: string }) =>
    change({ configure: '', check: '', configuration: '', configurations: '', ...at, page: value('page') })
  const opened = value('configure') || value('check')
  const asked = value('configuration') || undefined
  const configurations = useConfigurations(accountId, opened, { enabled: opened !== '' && asked !== undefined })
  const configurationId = configurations?.find((one) => one.configurationId === asked && !one.first)?.configurationId
  const at = configurationId === undefined ? {} : { configuration: configurationId }
  // Whether it is the first one, which needs no identifier, is known first.
  const isKnown = asked === undefined || configurations !== undefined
  const add = (
    <AddButton to={pathOf(accountId, 'catalogue')} reason={forbidden}>
      {say.add}
    </AddButton>
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
      {isCuredRead ? (
        <>
          <Cured accountId={accountId} />
          <ConnectorTable
            query={query}
            accountId={accountId}
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
            onLook={look}
            onRemove={(connector) =>
              open((close) => <RemoveConnector accountId={accountId} connector={connector} onClose={close} />)
            }
          />
        </>
      ) : (
        <Lines lines={8} />
      )}
      <Suspense>
        {value('configurations') && (
          <Configurations
            key={value('configurations')}
            accountId={accountId}
            connectorId={value('configurations')}
            onLook={look}
            onClose={() => look({})}
          />
        )}
        {value('configure') && isKnown && (
          <ConfigureConnector
            key={`${value('configure')} ${configurationId}`}
            accountId={accountId}
            connectorId={value('configure')}
            configurationId={configurationId}
            onClose={() => look({})}
            onCheck={() => look({ check: value('configure'), ...at })}
          />
        )}
        {value('check') && isKnown && (
          <CheckConnector
            key={`${value('check')} ${configurationId}`}
            accountId={accountId}
            connectorId={value('check')}
            configurationId={configurationId}
            onClose={() => look({})}
            onConfigure={() => look({ configure: value('check'), ...at })}
          />
        )}
      </Suspense>
      {dialog}
    </Page>
  )
}
