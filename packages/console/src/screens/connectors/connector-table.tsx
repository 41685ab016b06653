import {
  ActionIcon,
  Anchor,
  Badge,
  Box,
  Button,
  Group,
  Menu,
  Table,
  Text,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core'
import { type AddedConnector, type ErrorCode, errors } from '@penstock/wire'
import { IconDots } from '@tabler/icons-react'
import type { ComponentProps, ReactNode } from 'react'
import { Link } from 'react-router'
import { useForbiddenOf } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { Logo, logoOfPlatform } from '../../components/connector-name.tsx'
import { ListTable } from '../../components/list-table.tsx'
import { count } from '../../components/numbers.ts'
import { ReasonedButton, ReasonedItem } from '../../components/reasoned.tsx'
import { pathOf } from '../../shell/account.ts'
import { components } from '../../strings/components.ts'
import { connectors as say } from '../../strings/connectors.ts'
import { useFailedCheck } from './failed-checks.ts'
import { Reconnect, refusedSide } from './reconnect.tsx'

type Doing = {
  onLook: (at: { configure?: string; check?: string }) => void
  onRemove: (connector: AddedConnector) => void
}

/** How many broken connections are looked at. */
const brokenMax = 100

/** A line for each connector: what it is, whether it is ready, where it is used. */
export function ConnectorTable({
  connectors,
  accountId,
  ...doing
}: { connectors: readonly AddedConnector[]; accountId: string } & Doing) {
  const { data: broken } = useRead('listAttention', { accountId, query: { reason: 'broken', size: brokenMax } })
  const again = (connectorId: string, reconnect: (of: ComponentProps<typeof Reconnect>) => ReactNode) => {
    // Once the first of its connections is active, the next one is offered.
    const entry = broken?.reply.find((one) => refusedSide(one, one.lastTransfer)?.connectorId === connectorId)
    const side = entry && refusedSide(entry, entry.lastTransfer)
    return side && reconnect({ connection: entry, side, failedTime: entry.lastTransfer?.finishedTime ?? null })
  }
  return (
    <ListTable label={say.title}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{say.name}</Table.Th>
          <Table.Th visibleFrom="lg">{say.role}</Table.Th>
          <Table.Th visibleFrom="lg">{say.category}</Table.Th>
          <Table.Th visibleFrom="sm">{say.configuration}</Table.Th>
          <Table.Th visibleFrom="md" ta="right">
            {say.usedIn}
          </Table.Th>
          <Table.Th>
            <VisuallyHidden>{components.actions}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {connectors.map((connector) => (
          <Table.Tr key={connector.connectorId}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <Name connector={connector} accountId={accountId} onLook={doing.onLook} />
              {again(connector.connectorId, (of) => (
                <Box hiddenFrom="md" mt={6} ml={40}>
                  <Reconnect {...of} variant="light" />
                </Box>
              ))}
            </Table.Td>
            <Table.Td visibleFrom="lg">{say.roles[connector.supportedType]}</Table.Td>
            <Table.Td visibleFrom="lg">{components.term(connector.dataTypeCategory)}</Table.Td>
            <Table.Td visibleFrom="sm">
              <Readiness connector={connector} accountId={accountId} />
            </Table.Td>
            <Table.Td visibleFrom="md" ta="right">
              <UsedIn connector={connector} accountId={accountId} />
            </Table.Td>
            <Table.Td>
              <Actions connector={connector} {...doing}>
                {again(connector.connectorId, (of) => (
                  <Box visibleFrom="md">
                    <Reconnect {...of} />
                  </Box>
                ))}
              </Actions>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ListTable>
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

/** Whether it is configured, and whether its last check failed. */
function Readiness({ connector, accountId }: { connector: AddedConnector; accountId: string }) {
  const failed = useFailedCheck(accountId, connector.connectorId)
  return (
    <Group gap={6}>
      <ConfiguredBadge configured={connector.configured} />
      {connector.configured && failed && (
        <Badge variant="dot" color="red" fw={500} display="flex" w="fit-content" title={failed.message}>
          {say.lastCheckFailed}
        </Badge>
      )}
    </Group>
  )
}

function ConfiguredBadge({ configured }: { configured: boolean }) {
  return (
    <Badge variant="dot" color={configured ? 'teal' : 'orange'} fw={500} display="flex" w="fit-content">
      {configured ? say.configured : say.notConfigured}
    </Badge>
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
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={say.actions(name)}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => onLook({ configure: connectorId })}>{say.configure}</Menu.Item>
          <ReasonedItem
            reason={forbidden('checkConnector') ?? whyNoCheck(connector)}
            onClick={() => onLook({ check: connectorId })}
          >
            {say.check}
          </ReasonedItem>
          <Menu.Divider />
          <ReasonedItem reason={forbidden('removeConnector')} destructive onClick={() => onRemove(connector)}>
            {say.remove}
          </ReasonedItem>
        </Menu.Dropdown>
      </Menu>
    </Group>
  )
}

/** Why the service would refuse to check a connector; undefined where it would not. */
function whyNoCheck({ transfer, configured }: AddedConnector): string | undefined {
  const code: ErrorCode | undefined = transfer
    ? configured
      ? undefined
      : 'connector_not_configured'
    : 'check_not_supported'
  return code && errors[code].message
}
