import { Group, Stack, Text } from '@mantine/core'
import { type ConnectionDetails, limits, outcomesConnectorId } from '@penstock/wire'
import { IconPencil, IconTableExport } from '@tabler/icons-react'
import { useNavigate } from 'react-router'
import { useForbiddenOf } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { DialogButton } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Section } from '../../components/section.tsx'
import { pathOf } from '../../shell/account.ts'
import { outcomes as say } from '../../strings/outcomes.ts'
import { beginDraft } from '../new-connection/draft.ts'
import { EditOutcomes } from './edit-outcomes.tsx'

const textOf = (value: unknown): string => String(value ?? '').trim()

/** Whether the connection records what became of each row, and where. */
export function OutcomesCard({ connection, reason }: { connection: ConnectionDetails; reason: string | undefined }) {
  const { accountId, name, src, destConnectionConfig } = connection
  const isReader = src.connectorId === outcomesConnectorId
  const query = useRead(
    'listConnectorConfigurations',
    { accountId, query: { connectorId: outcomesConnectorId, size: limits.configurationsOfConnectorMax } },
    { enabled: !isReader },
  )
  const forbidden = useForbiddenOf()
  const navigate = useNavigate()
  // A connection that reads outcomes records none.
  if (isReader) return null
  const record = textOf(destConnectionConfig.outcomes)
  const stores = query.data?.reply ?? []
  const store = stores.find((one) => [one.configurationId, one.name].includes(record))
  const read = async () => {
    const configuration = store ? { configuration: store.configurationId } : {}
    beginDraft(accountId, outcomesConnectorId, { name: say.readName(name), ...configuration })
    const picks = new URLSearchParams({ source: outcomesConnectorId, step: 'destination' })
    await navigate(pathOf(accountId, `connections/new?${picks}`))
  }
  const edit = (
    <DialogButton
      size="xs"
      leftSection={<IconPencil size={16} aria-hidden />}
      reason={forbidden('updateConnection') ?? forbidden('configureConnector') ?? reason}
      dialog={(close) => query.data && <EditOutcomes connection={connection} stores={stores} onClose={close} />}
    >
      {record === '' ? say.record : say.change}
    </DialogButton>
  )
  return (
    <Section title={say.title} help={say.help} action={edit} region>
      <Loaded query={query} lines={2} quiet>
        {() =>
          record === '' ? (
            <Text size="sm">{say.none}</Text>
          ) : (
            <Stack gap="xs">
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {say.recorded} <b>{store?.name ?? record}</b>
              </Text>
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {textOf(destConnectionConfig.outcomeColumns) === ''
                  ? say.noColumns
                  : `${say.columns}: ${textOf(destConnectionConfig.outcomeColumns)}`}
              </Text>
              {destConnectionConfig.outcomeRows === 'Sent' && <Text size="sm">{say.sentOnly}</Text>}
              <Group>
                <ReasonedButton
                  variant="default"
                  size="xs"
                  leftSection={<IconTableExport size={16} aria-hidden />}
                  reason={forbidden('createConnection')}
                  onClick={() => void read()}
                >
                  {say.read}
                </ReasonedButton>
              </Group>
            </Stack>
          )
        }
      </Loaded>
    </Section>
  )
}
