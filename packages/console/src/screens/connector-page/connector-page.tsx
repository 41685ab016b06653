import { Anchor, Badge, Button, Grid, Group, Stack, Text } from '@mantine/core'
import { connectorStatus } from '@penstock/wire'
import { IconBook, IconSettings } from '@tabler/icons-react'
import { Link, useNavigate, useParams } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { Logo, logoOfPlatform } from '../../components/connector-name.tsx'
import { Lines, Loaded } from '../../components/loaded.tsx'
import { notifyFailure } from '../../components/notify.ts'
import { Page } from '../../components/page.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { pathOf, useAccount } from '../../shell/account.ts'
import { catalogue, connectorPage as say } from '../../strings/catalogue.ts'
import { kindOf, useCatalogue } from '../catalogue/use-catalogue.ts'
import type { KnownConnector } from '../catalogue/vocabulary.ts'
import { configureAt } from '../connectors/of-account.ts'
import { FactsCard, NeedsCard, NotesCard, TestedCard } from './cards.tsx'
import { factsOfDestination, factsOfSource, limitsOf } from './facts.ts'

/** The page of a connector: what it does, what it needs, and what it was tested against. */
export function Component() {
  const { accountId } = useAccount()
  const { connectorId = '' } = useParams()
  const connector = useRead('getConnector', { accountId, id: connectorId })
  const definition = useRead('getConnectorDefinition', { id: connectorId })
  const { query, connectors, added, isAddedKnown } = useCatalogue(accountId)
  const own = added.get(connectorId)
  const known = connectors?.find((one) => one.connectorId === connectorId)
  const { name = '', docUrl, status, platformId, platformType, supportedType = 'Source' } = connector.data?.reply ?? {}
  const used = (own?.srcConnections ?? 0) + (own?.destConnections ?? 0)
  // Everything comes together, so that nothing moves while the page loads.
  if (connector.isPending || definition.isPending || (!connectors && !query.isError) || !isAddedKnown) {
    return (
      <Page title={name || catalogue.name}>
        <Lines lines={8} />
      </Page>
    )
  }
  return (
    <Page
      title={name || catalogue.name}
      help={
        <Group gap="xs">
          <Anchor component={Link} to={pathOf(accountId, 'catalogue')} size="sm">
            {catalogue.name}
          </Anchor>
          {platformId && <Logo src={logoOfPlatform(platformId)} size={20} />}
          {platformType && <span>{kindOf(known ?? { kind: null, platformType })}</span>}
          <span>
            {supportedType
              .split(', ')
              .map((role) => say.as[role as keyof typeof say.as])
              .join(', ')}
          </span>
          {status === connectorStatus.preview && <Badge variant="default">{say.preview}</Badge>}
          {own && (
            <Badge variant="light" color="teal">
              {catalogue.isAdded}
            </Badge>
          )}
          {used > 0 && <span>{say.usedIn(used)}</span>}
        </Group>
      }
      actions={
        known && (
          <Actions
            accountId={accountId}
            connector={known}
            configured={own?.configured ?? false}
            isAdded={own !== undefined}
          />
        )
      }
    >
      <Loaded query={definition} lines={8}>
        {({ reply }) => (
          <Grid gap="lg">
            <Grid.Col span={{ base: 12, md: 8 }}>
              <Stack gap="lg">
                <Text>{reply.description}</Text>
                {status === connectorStatus.withdrawn && <Text fw={600}>{say.withdrawnHelp}</Text>}
                {reply.source && (
                  <FactsCard title={say.reads} help={say.as.Source} facts={factsOfSource(reply.source)} />
                )}
                {reply.destination && (
                  <FactsCard
                    title={say.accepts}
                    help={say.as.Destination}
                    facts={factsOfDestination(reply.destination)}
                  />
                )}
                <FactsCard
                  title={say.limits}
                  help={reply.api ? say.api(reply.api.version) : ''}
                  facts={limitsOf(reply)}
                />
                {reply.notes && <NotesCard notes={reply.notes} />}
              </Stack>
            </Grid.Col>
            <Grid.Col span={{ base: 12, md: 4 }}>
              <Stack gap="lg">
                <NeedsCard definition={reply} />
                <TestedCard tested={reply.tested} />
                {docUrl && (
                  <Anchor href={new URL(docUrl, window.location.origin).pathname} target="_blank" size="sm">
                    <Group gap={6} wrap="nowrap">
                      <IconBook size={16} aria-hidden />
                      {say.documentation}
                    </Group>
                  </Anchor>
                )}
              </Stack>
            </Grid.Col>
          </Grid>
        )}
      </Loaded>
    </Page>
  )
}

/** One primary button: connect it first, then use it. A connector with both roles also writes. */
function Actions({
  accountId,
  connector: { connectorId, name, supportedType },
  configured,
  isAdded,
}: {
  accountId: string
  connector: KnownConnector
  configured: boolean
  isAdded: boolean
}) {
  const navigate = useNavigate()
  const add = useWrite('addConnectors')
  const mayAdd = useForbidden('addConnectors')
  const mayCreate = useForbidden('createConnection')
  const connect = async () => {
    try {
      await add.mutateAsync({ accountId, body: { connectorIds: [connectorId] } })
      await navigate(pathOf(accountId, configureAt(connectorId)))
    } catch (error) {
      notifyFailure(error)
    }
  }
  const asSource = pathOf(accountId, `connections/new?source=${connectorId}&step=destination`)
  // The catalogue proposes a source for it.
  const asDestination = pathOf(accountId, `catalogue?${new URLSearchParams({ q: `to ${name}` })}`)
  const isBoth = supportedType === 'Source, Destination'
  if (!configured) {
    return (
      <ReasonedButton reason={mayAdd} loading={add.isPending} onClick={() => void connect()}>
        {say.connect}
      </ReasonedButton>
    )
  }
  return (
    <>
      {isAdded && (
        <Button
          component={Link}
          variant="default"
          to={pathOf(accountId, configureAt(connectorId))}
          leftSection={<IconSettings size={18} aria-hidden />}
        >
          {say.configure}
        </Button>
      )}
      {isBoth && (
        <ReasonedButton reason={mayCreate} variant="default" to={asDestination}>
          {say.writeTo(name)}
        </ReasonedButton>
      )}
      <ReasonedButton reason={mayCreate} to={supportedType === 'Destination' ? asDestination : asSource}>
        {isBoth ? say.readFrom(name) : say.useIn}
      </ReasonedButton>
    </>
  )
}
