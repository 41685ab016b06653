import { useParams } from 'react-router'
import { useRead } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { pathOf, useAccount } from '../../shell/account.ts'
import { buildSource as say } from '../../strings/build-source.ts'
import { connectors as sayConnectors } from '../../strings/connectors.ts'
import { parametersOf } from '../connectors/of-account.ts'
import { BuilderScreen } from './builder-screen.tsx'
import type { OpenedConfiguration } from './use-settings.ts'

/** Describes the source of a configuration with real answers of its API. `?configuration=` names one that is not the first. */
export function Component() {
  const { accountId } = useAccount()
  const { connectorId = '' } = useParams()
  const configurationId = useAddress().value('configuration') || undefined
  const of = { accountId, connectorId, configurationId }
  const definition = useRead('getConnectorDefinition', { id: connectorId })
  const configuration = useRead('getConnectorConfiguration', parametersOf(of))
  if (definition.data === undefined || configuration.data === undefined) {
    return (
      <Page title={say.title}>
        <Loaded query={definition} lines={8}>
          {() => (
            <Loaded query={configuration} lines={8}>
              {() => null}
            </Loaded>
          )}
        </Loaded>
      </Page>
    )
  }
  const { asks, name, secretFields } = { ...definition.data.reply, asks: definition.data.reply.source?.asks }
  if (!asks) {
    return (
      <Page title={say.title}>
        <Empty
          title={say.notSupported}
          action={
            <ReasonedButton reason={undefined} to={pathOf(accountId, 'connectors')}>
              {say.toConnectors}
            </ReasonedButton>
          }
        />
      </Page>
    )
  }
  const configurationName = configurationId && configuration.data.reply.secretConfig[0]?.name
  return (
    <BuilderScreen
      key={`${connectorId} ${configurationId}`}
      of={of}
      name={sayConnectors.named(name, configurationName)}
      configuration={configuration.data}
      definitions={secretFields}
      readAgain={async () => (await configuration.refetch({ throwOnError: true })).data as OpenedConfiguration}
    />
  )
}
