import { ActionIcon, Box, Card, Code, CopyButton, Group, SimpleGrid, Stack, Text, Title, Tooltip } from '@mantine/core'
import { type ConnectionDetails, type FieldDefinition, fieldCounts } from '@penstock/wire'
import { IconCheck, IconCopy, IconPencil } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useRead } from '../../api/queries.ts'
import { ConnectorName } from '../../components/connector-name.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { DataTable } from '../../components/resource-table.tsx'
import { Section } from '../../components/section.tsx'
import { SettingValue } from '../../components/setting-value.tsx'
import { Time } from '../../components/time.tsx'
import { pathOf } from '../../shell/account.ts'
import { connection as say } from '../../strings/connection.ts'
import { newConnection } from '../../strings/new-connection.ts'
import { shell } from '../../strings/shell.ts'
import { useStandings } from '../connectors/use-standing.ts'
import { DriftCard } from './drift-card.tsx'
import { LabelsCard } from './labels-card.tsx'
import { linesOfMapping } from './mapping.ts'
import { OutcomesCard } from './outcomes-card.tsx'
import { RulesCard } from './rules-card.tsx'
import { StateCard } from './state-card.tsx'
import { TriggersCard } from './triggers-card.tsx'

/** How both sides are set, in words, and the identifiers by which the API knows them. */
export function Configuration({
  connection,
  reason,
  onEdit,
}: {
  connection: ConnectionDetails
  /** Why it cannot be edited. */
  reason: string | undefined
  onEdit: () => void
}) {
  const { id, src, dest, accountId, createdTime, updatedTime } = connection
  return (
    <Stack gap="md">
      <Group>
        <ReasonedButton
          variant="default"
          leftSection={<IconPencil size={18} aria-hidden />}
          reason={reason}
          onClick={onEdit}
        >
          {say.editSettings}
        </ReasonedButton>
      </Group>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <SideSettings connection={connection} side="src" />
        <SideSettings connection={connection} side="dest" />
      </SimpleGrid>
      <Mapping connection={connection} reason={reason} />
      <LabelsCard connection={connection} reason={reason} />
      <DriftCard connection={connection} reason={reason} />
      <RulesCard connection={connection} reason={reason} />
      <OutcomesCard connection={connection} reason={reason} />
      <StateCard connection={connection} reason={reason} />
      <TriggersCard connection={connection} reason={reason} />
      <Section title={say.identifiers}>
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="md">
          <Id label={say.connectionId} id={id} />
          <Id label={shell.account} id={accountId} />
          <Id label={src.connectorName} id={src.connectorId} />
          <Id label={dest.connectorName} id={dest.connectorId} />
        </SimpleGrid>
        <Text size="sm" c="dimmed">
          {say.createdAt} <Time seconds={createdTime} /> · {say.changedAt} <Time seconds={updatedTime} />
        </Text>
      </Section>
    </Stack>
  )
}

const sideOf = (connection: ConnectionDetails, side: 'src' | 'dest') => ({
  ...connection[side],
  role: side === 'src' ? say.source : say.destination,
  values: side === 'src' ? connection.srcConnectionConfig : connection.destConnectionConfig,
})

function SideSettings({ connection, side }: { connection: ConnectionDetails; side: 'src' | 'dest' }) {
  const { connectorId, connectorLogo, connectorName, role, values } = sideOf(connection, side)
  const query = useRead('getConnectorDefinition', { id: connectorId })
  const { accountId } = connection
  const configurationId = connection[`${side}ConfigurationId`]
  const { name = connectorName } = useStandings(accountId)({ accountId, connectorId, configurationId })
  return (
    <Card withBorder padding="lg">
      <Text size="xs" c="dimmed">
        {role}
      </Text>
      <Title order={2} size="h4" mb="md" aria-label={say.settingsOf(role, name)}>
        <ConnectorName logo={connectorLogo} name={name} brand={connectorName} size={22} />
      </Title>
      <Loaded query={query} quiet>
        {({ reply }) => {
          const all = (side === 'src' ? reply.source : reply.destination)?.fields ?? []
          const byName = Object.fromEntries(all.map((field) => [field.name, field]))
          const fields = all.filter(({ name }) => name !== 'mapping' && fieldCounts(byName, name, values))
          if (fields.length === 0) return <Text c="dimmed">{say.noSettings}</Text>
          return (
            <Stack component="dl" gap="sm" m={0}>
              {fields.map((field) => (
                <Box key={field.name}>
                  <Text component="dt" size="xs" c="dimmed">
                    {field.label}
                  </Text>
                  <Text component="dd" m={0} size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
                    <Value
                      accountId={connection.accountId}
                      connectorId={connectorId}
                      field={field}
                      value={values[field.name]}
                    />
                  </Text>
                </Box>
              ))}
            </Stack>
          )
        }}
      </Loaded>
    </Card>
  )
}

function Value({
  field,
  value,
  ...of
}: {
  accountId: string
  connectorId: string
  field: FieldDefinition
  value: unknown
}): ReactNode {
  if (field.type === 'Password') return <Dimmed>{say.isSecret}</Dimmed>
  const isSet = value !== undefined && value !== null && value !== ''
  if (!isSet && field.default === undefined) return <Dimmed>{say.unset}</Dimmed>
  const shown = isSet ? value : field.default
  return (
    <>
      <SettingValue {...of} field={field} value={shown} />
      {!isSet && <Dimmed> {say.byDefault}</Dimmed>}
    </>
  )
}

const Dimmed = ({ children }: { children: ReactNode }) => (
  <Text span inherit c="dimmed">
    {children}
  </Text>
)

function Mapping({ connection, reason }: { connection: ConnectionDetails; reason: string | undefined }) {
  const all = linesOfMapping(String(connection.destConnectionConfig.mapping ?? ''))
  const lines = all?.filter(({ from }) => from !== '')
  const empty = (all?.length ?? 0) - (lines?.length ?? 0)
  const edit = (
    <ReasonedButton
      variant="default"
      size="xs"
      leftSection={<IconPencil size={16} aria-hidden />}
      reason={reason}
      to={pathOf(connection.accountId, `connections/new?connection=${connection.id}&step=mapping`)}
    >
      {say.editMapping}
    </ReasonedButton>
  )
  return (
    <Section title={say.mapping} action={edit}>
      {lines === undefined ? (
        <Text size="sm">{say.mappingUnreadable}</Text>
      ) : lines.length === 0 && empty === 0 ? (
        <Text size="sm" c="dimmed">
          {say.mappingNone}
        </Text>
      ) : (
        <DataTable
          label={say.mapping}
          minWidth={280}
          horizontalSpacing="sm"
          fz="sm"
          rows={lines}
          columns={[
            { header: say.mappingField, cell: ({ field }) => <Code>{field}</Code> },
            { header: say.mappingFrom, wraps: true, cell: ({ from }) => from },
            { header: say.mappingForm, from: 'sm', cell: ({ form }) => form },
          ]}
        />
      )}
      {empty > 0 && (
        <Text size="sm" c="dimmed">
          {newConnection.stayEmpty(empty)}
        </Text>
      )}
    </Section>
  )
}

function Id({ label, id }: { label: string; id: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed" truncate>
        {label}
      </Text>
      <Group gap={4} wrap="nowrap">
        <Text size="sm" ff="monospace">
          {id}
        </Text>
        <CopyButton value={id}>
          {({ copied, copy }) => (
            <Tooltip label={copied ? say.copied : say.copyId(label)}>
              <ActionIcon variant="subtle" color="gray" size="sm" aria-label={say.copyId(label)} onClick={copy}>
                {copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
              </ActionIcon>
            </Tooltip>
          )}
        </CopyButton>
      </Group>
    </div>
  )
}
