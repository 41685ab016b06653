import { Anchor, Box, Button, Group, Text, UnstyledButton } from '@mantine/core'
import type { ResultOf } from '@penstock/client'
import { type AddedConnector, type ErrorCode, errors } from '@penstock/wire'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ComponentProps, ReactNode } from 'react'
import { Link } from 'react-router'
import { useForbiddenOf } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { Logo, logoOfPlatform } from '../../components/connector-name.tsx'
import { count } from '../../components/numbers.ts'
import { ActionsMenu, ReasonedButton } from '../../components/reasoned.tsx'
import { ResourceTable } from '../../components/resource-table.tsx'
import { ConfigurationBadge } from '../../components/status.tsx'
import { pathOf } from '../../shell/account.ts'
import { components } from '../../strings/components.ts'
import { connectors as say } from '../../strings/connectors.ts'
import { Reconnect, refusedSide } from './reconnect.tsx'
import { useAllConfigurations, useStandings } from './use-standing.ts'

type Doing = {
  onLook: (at: { configure?: string; check?: string; configurations?: string }) => void
  onRemove: (connector: AddedConnector) => void
}

/** How the columns sort: names from A, what is not configured first, the most used first. */
const orders = {
  name: { first: 'name', second: '-name' },
  configuration: { first: 'configured', second: '-configured' },
  usedIn: { first: '-connections', second: 'connections', isDescendingFirst: true },
} as const

/** How many broken connections are looked at. */
const brokenMax = 100

/** A line for each connector: what it is, whether it is ready, if it is used. */
export function ConnectorTable({
  query,
  accountId,
  empty,
  ...doing
}: { query: UseQueryResult<ResultOf<'listAddedConnectors'>, Error>; accountId: string; empty: ReactNode } & Doing) {
  const { data: broken } = useRead('listAttention', { accountId, query: { reason: 'broken', size: brokenMax } })
  const again = (connectorId: string, reconnect: (of: ComponentProps<typeof Reconnect>) => ReactNode) => {
    // Once the first of its connections is active, the next one is offered.
    const entry = broken?.reply.find((one) => refusedSide(one, one.lastTransfer)?.connectorId === connectorId)
    const side = entry && refusedSide(entry, entry.lastTransfer)
    return side && reconnect({ connection: entry, side, failedTime: entry.lastTransfer?.finishedTime ?? null })
  }
  return (
    <ResourceTable
      label={say.title}
      query={query}
      lines={8}
      empty={empty}
      keyOf={({ connectorId }) => connectorId}
      columns={[
        {
          header: say.name,
          orders: orders.name,
          wraps: true,
          cell: (connector) => (
            <>
              <Name connector={connector} accountId={accountId} onLook={doing.onLook} />
              {again(connector.connectorId, (of) => (
                <Box hiddenFrom="md" mt={6} ml={40}>
                  <Reconnect {...of} variant="light" />
                </Box>
              ))}
            </>
          ),
        },
        { header: say.role, from: 'lg', cell: ({ supportedType }) => say.roles[supportedType] },
        { header: say.category, from: 'lg', cell: ({ dataTypeCategory }) => components.term(dataTypeCategory) },
        {
          header: say.configuration,
          orders: orders.configuration,
          from: 'sm',
          cell: (connector) => <Readiness connector={connector} accountId={accountId} />,
        },
        {
          header: say.usedIn,
          orders: orders.usedIn,
          from: 'md',
          right: true,
          cell: (connector) => <UsedIn connector={connector} accountId={accountId} />,
        },
      ]}
      actions={(connector) => (
        <Actions connector={connector} {...doing}>
          {again(connector.connectorId, (of) => (
            <Box visibleFrom="md">
              <Reconnect {...of} />
            </Box>
          ))}
        </Actions>
      )}
      actionsW="auto"
    />
  )
}

function Name({
  connector,
  accountId,
  onLook,
}: {
  connector: AddedConnector
  accountId: string
  onLook: Doing['onLook']
}) {
  const { connectorId, platformId, name, dataType, transfer } = connector
  return (
    <Group gap="sm" wrap="nowrap" align="flex-start">
      <Box mt={2}>
        <Logo src={logoOfPlatform(platformId)} size={28} />
      </Box>
      <Box miw={0}>
        <UnstyledButton onClick={() => onLook({ configure: connectorId })} fw={550} fz="sm" aria-haspopup="dialog">
          <Text span inherit c="var(--mantine-color-anchor)">
            {name}
          </Text>
        </UnstyledButton>
        <Text size="xs" c="dimmed">
          {components.term(dataType)}
          {!transfer && ` · ${say.movesNothing}`}
        </Text>
        <Group hiddenFrom="sm" gap="xs" mt={4} fz="xs">
          <Readiness connector={connector} accountId={accountId} />
          {usesOf(connector) > 0 && <UsedIn connector={connector} accountId={accountId} />}
        </Group>
      </Box>
    </Group>
  )
}

/** How the configurations of a connector are doing: the one that is doing worst. */
function Readiness({
  connector: { connectorId, configured },
  accountId,
}: {
  connector: AddedConnector
  accountId: string
}) {
  const standingOf = useStandings(accountId)
  const own = useAllConfigurations(accountId)?.filter((one) => one.connectorId === connectorId) ?? []
  const first = standingOf({ accountId, connectorId, configured })
  const others = own
    .filter((one) => !one.first)
    .map(({ configurationId }) => standingOf({ accountId, connectorId, configurationId }))
  const { standing, why } = [first, ...others].find(({ standing }) => standing === 'failed') ?? first
  return (
    <Group gap={6}>
      <ConfigurationBadge standing={standing} why={why} />
      {others.length > 0 && (
        <Text span size="xs" c="dimmed">
          {say.configurationCount(count(own.length))}
        </Text>
      )}
    </Group>
  )
}

export const usesOf = ({ srcConnections, destConnections }: AddedConnector) => srcConnections + destConnections

function UsedIn({ connector, accountId }: { connector: AddedConnector; accountId: string }) {
  const uses = usesOf(connector)
  if (uses === 0)
    return (
      <Text span inherit c="dimmed">
        {say.notUsed}
      </Text>
    )
  return (
    <Anchor
      component={Link}
      to={`${pathOf(accountId, 'connections')}?q=${encodeURIComponent(connector.name)}`}
      fz="inherit"
    >
      {say.uses(uses, count(uses))}
    </Anchor>
  )
}

function Actions({
  connector,
  onLook,
  onRemove,
  children,
}: { connector: AddedConnector; children: ReactNode } & Doing) {
  const { connectorId, name, configured } = connector
  const forbidden = useForbiddenOf()
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      {children}
      <Box visibleFrom="md">
        {configured && whyNoCheck(connector) === undefined ? (
          <ReasonedButton
            size="compact-sm"
            variant="default"
            reason={forbidden('checkConnector')}
            aria-label={say.checkTitle(name)}
            onClick={() => onLook({ check: connectorId })}
          >
            {say.check}
          </ReasonedButton>
        ) : (
          !configured && (
            <Button
              size="compact-sm"
              variant="light"
              aria-label={say.configureTitle(name)}
              onClick={() => onLook({ configure: connectorId })}
            >
              {say.configure}
            </Button>
          )
        )}
      </Box>
      <ActionsMenu
        label={say.actions(name)}
        width={260}
        groups={[
          [
            { label: say.configure, onClick: () => onLook({ configure: connectorId }) },
            {
              label: say.check,
              reason: forbidden('checkConnector') ?? whyNoCheck(connector),
              onClick: () => onLook({ check: connectorId }),
            },
            { label: say.configurations, onClick: () => onLook({ configurations: connectorId }) },
          ],
          [
            {
              label: say.remove,
              reason: forbidden('removeConnector'),
              destructive: true,
              onClick: () => onRemove(connector),
            },
          ],
        ]}
      />
    </Group>
  )
}

/** Why the service would refuse to check a connector; undefined if it would not. */
function whyNoCheck({ transfer, configured }: AddedConnector): string | undefined {
  const code: ErrorCode | undefined = transfer
    ? configured
      ? undefined
      : 'connector_not_configured'
    : 'check_not_supported'
  return code && errors[code].message
}
