import { Anchor, Button, Group, List, Modal, NumberInput, Stack, Text } from '@mantine/core'
import { type BodyOf, type ConnectionDetails, limits, type Transfer } from '@penstock/wire'
import { IconFlask } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import { useRead, useWrite } from '../../api/queries.ts'
import { DialogButton, DialogForm } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { count } from '../../components/numbers.ts'
import { components } from '../../strings/components.ts'
import { connection as say } from '../../strings/connection.ts'
import { Failed } from '../transfer/failed.tsx'
import { pathOfTransfer } from '../transfer/paths.ts'
import { RecordSummary } from '../transfer/record-summary.tsx'
import { TransferProgress } from './active-transfer.tsx'
import { isActive } from './use-connection.ts'

const liveMs = 1_000
const rowsDefault = 10
const rejectsShown = 20

type Tested = {
  connection: ConnectionDetails
  /** Settings for the test alone, such as a mapping that is not saved yet. */
  settings?: Pick<BodyOf<'startTransfer'>, 'destConnectionConfig'>
}

/** The button that opens the dialog of a test. @param reason why there can be none; undefined if there can */
export function TestButton({ reason, ...tested }: Tested & { reason: string | undefined }) {
  return (
    <DialogButton
      leftSection={<IconFlask size={16} aria-hidden />}
      reason={reason}
      dialog={(close) => <TestDialog {...tested} onClose={close} />}
    >
      {say.test}
    </DialogButton>
  )
}

/** Asks how many rows to send, names their destination, sends them, and shows the result. */
export function TestDialog({ connection, settings, onClose }: Tested & { onClose: () => void }) {
  const { accountId, id, src, dest } = connection
  const [rows, setRows] = useState<number | string>(rowsDefault)
  const [started, setStarted] = useState<Transfer>()
  const start = useWrite('startTransfer')
  const isCount = typeof rows === 'number' && Number.isInteger(rows) && rows >= 1 && rows <= limits.testRowsMax
  return (
    <Modal opened onClose={onClose} title={say.testTitle(connection.name)} size="lg">
      {started ? (
        <Result started={started} connection={connection} onClose={onClose} />
      ) : (
        <DialogForm
          action={isCount ? say.testSend(rows, count(rows)) : say.test}
          invalid={{ 'test.rows': !isCount && say.testRowsRange(count(limits.testRowsMax)) }}
          onClose={onClose}
          onSubmit={async () => {
            const body = { ...settings, test: { rows: Number(rows) } }
            setStarted((await start.mutateAsync({ accountId, id, body })).reply)
          }}
        >
          {(errorOf) => (
            <>
              <NumberInput
                label={say.testRows}
                value={rows}
                onChange={setRows}
                min={1}
                max={limits.testRowsMax}
                clampBehavior="none"
                allowDecimal={false}
                error={errorOf('test.rows')}
                w={160}
                data-autofocus
              />
              <Text size="sm">{say.testHelp(src.connectorName, dest.connectorName)}</Text>
              <Text size="sm" c="dimmed">
                {say.testAfterwards}
              </Text>
            </>
          )}
        </DialogForm>
      )}
    </Modal>
  )
}

function Result({
  started,
  connection,
  onClose,
}: {
  started: Transfer
  connection: ConnectionDetails
  onClose: () => void
}) {
  const { accountId, connectionId, id } = started
  const query = useRead(
    'getTransfer',
    { accountId, id: connectionId, transferId: id },
    { againAfterMs: (result) => (isActive(result?.reply ?? started) ? liveMs : 0) },
  )
  const transfer = query.data?.reply ?? started
  const close = useRef<HTMLButtonElement>(null)
  // The button that was pressed is gone.
  useEffect(() => close.current?.focus(), [])
  return (
    <Stack>
      <Text role="status" fw={550}>
        {isActive(transfer)
          ? transfer.status === 'queued'
            ? say.waits
            : say.testRuns
          : say.testEnded[transfer.records.read === 0 && !transfer.error ? 'nothing' : transfer.status]}
      </Text>
      {isActive(transfer) && <TransferProgress transfer={transfer} />}
      <Failed transfer={transfer} connection={connection} />
      {transfer.records.read > 0 && <RecordSummary transfer={transfer} />}
      {!isActive(transfer) && transfer.records.rejected > 0 && <Rejected transfer={transfer} />}
      <Group justify="flex-end">
        <Anchor component={Link} to={pathOfTransfer(transfer)} size="sm">
          {say.open}
        </Anchor>
        <Button ref={close} variant="default" onClick={onClose}>
          {components.close}
        </Button>
      </Group>
    </Stack>
  )
}

/** Why rows of a test were rejected: the first ones. */
function Rejected({ transfer: { accountId, connectionId, id, records } }: { transfer: Transfer }) {
  const query = useRead('listRejects', {
    accountId,
    id: connectionId,
    transferId: id,
    query: { size: rejectsShown },
  })
  return (
    <Loaded query={query} lines={2}>
      {({ reply, total }) => (
        <>
          <List size="sm" spacing={4} aria-label={say.testRejected}>
            {reply.map(({ row, count: n, reason }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows that are only counted have no number, and the list does not change.
              <List.Item key={at} style={{ overflowWrap: 'anywhere' }}>
                {row === null ? say.testRejectedRows(count(n), reason) : say.testRejectedRow(count(row), reason)}
              </List.Item>
            ))}
          </List>
          {total > reply.length && (
            <Text size="sm" c="dimmed">
              {say.testMore(count(records.rejected))}
            </Text>
          )}
        </>
      )}
    </Loaded>
  )
}
