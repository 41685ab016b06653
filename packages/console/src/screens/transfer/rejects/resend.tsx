import { List, Radio, Stack, Text } from '@mantine/core'
import type { Reject, ReplayRows, Transfer } from '@penstock/wire'
import { useState } from 'react'
import { useRead, useWrite } from '../../../api/queries.ts'
import { FormDialog } from '../../../components/form-dialog.tsx'
import { Loaded } from '../../../components/loaded.tsx'
import { count } from '../../../components/numbers.ts'
import { connection as sayConnection } from '../../../strings/connection.ts'
import { rejects as sayRejects } from '../../../strings/rejects.ts'
import { countStates } from './use-rejects.ts'

const say = sayRejects.resend

/**
 * Asks before rejected rows are sent again, and says which of them are sent. Rows that need a correction are never among them.
 */
export function Resend({
  transfer: { accountId, connectionId, id },
  rejects,
  onClose,
}: {
  transfer: Transfer
  /** The rejected rows that are read. */
  rejects: readonly Reject[]
  onClose: () => void
}) {
  const of = { accountId, id: connectionId, transferId: id }
  const replayable = useRead('getReplayable', of)
  const replay = useWrite('replayTransfer')
  const states = countStates(rejects)
  const corrected = states.get('corrected') ?? 0
  const asRead = (states.get('waiting') ?? 0) + (states.get('rejected_again') ?? 0)
  const locked = states.get('needs_correction') ?? 0
  const [chosen, setChosen] = useState<ReplayRows>(corrected > 0 ? 'corrected' : 'ready')
  const hasChoice = corrected > 0 && asRead > 0
  const send = async () => {
    const { already } = await replay.mutateAsync({ ...of, query: { rows: chosen } })
    return already ? sayConnection.already : say.started
  }
  return (
    <FormDialog title={say.title} action={say.action} onSubmit={send} onClose={onClose}>
      <Loaded query={replayable} lines={2}>
        {({ reply: { replayable: left, replayed, notKept } }) => {
          // Not every row may be read: the service knows how many there are.
          const isWhole = rejects.length >= left + replayed
          const n = isWhole ? asRead : Math.max(0, left - corrected)
          const items = [
            ...(chosen === 'ready' && n > 0 ? [say.asRead(n, count(n))] : []),
            ...(corrected > 0 ? [say.withCorrections(corrected, count(corrected))] : []),
            ...(isWhole && locked > 0 ? [say.needCorrection(locked, count(locked))] : []),
            ...(isWhole ? [] : [say.lockedNotSent]),
            ...(replayed > 0 ? [say.delivered(replayed, count(replayed))] : []),
            ...(notKept > 0 ? [say.notKept(notKept, count(notKept))] : []),
          ]
          return (
            <Stack gap="sm">
              <Text size="sm">{left > 0 ? say.help : say.nothing}</Text>
              {hasChoice && (
                <Radio.Group label={say.which} value={chosen} onChange={(value) => setChosen(value as ReplayRows)}>
                  <Stack gap={6} mt={6}>
                    <Radio value="corrected" label={say.corrected(corrected, count(corrected))} />
                    <Radio value="ready" label={say.ready(n + corrected, count(n + corrected))} />
                  </Stack>
                </Radio.Group>
              )}
              {items.length > 0 && (
                <List size="sm">
                  {items.map((text) => (
                    <List.Item key={text}>{text}</List.Item>
                  ))}
                </List>
              )}
            </Stack>
          )
        }}
      </Loaded>
    </FormDialog>
  )
}
