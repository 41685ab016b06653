import { List } from '@mantine/core'
import type { Transfer } from '@penstock/wire'
import { useRead, useWrite } from '../../api/queries.ts'
import { Confirm } from '../../components/confirm.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { count } from '../../components/numbers.ts'
import { transfer as say } from '../../strings/transfer.ts'

/** Asks before a replay, and says how many of the rejected records it sends, and how many it does not. */
export function Replay({
  transfer: { accountId, connectionId, id },
  onStarted,
  onClose,
}: {
  transfer: Transfer
  onStarted: (started: { reply: Transfer; already: boolean }) => void
  onClose: () => void
}) {
  const of = { accountId, id: connectionId, transferId: id }
  const query = useRead('getReplayable', of)
  const replay = useWrite('replayTransfer')
  return (
    <Confirm
      title={say.replayTitle}
      action={say.replay}
      onClose={onClose}
      onConfirm={async () => onStarted(await replay.mutateAsync(of))}
    >
      <Loaded query={query} lines={2}>
        {({ reply: { replayable, replayed, notKept } }) => {
          const left = [
            ...(replayed > 0 ? [say.replayDelivered(count(replayed))] : []),
            ...(notKept > 0 ? [say.replayNotKept(count(notKept))] : []),
          ]
          return (
            <>
              {replayable > 0 ? say.replayHelp(count(replayable)) : say.replayNothing}
              {left.length > 0 && (
                <List size="sm" mt="sm">
                  {left.map((text) => (
                    <List.Item key={text}>{text}</List.Item>
                  ))}
                </List>
              )}
            </>
          )
        }}
      </Loaded>
    </Confirm>
  )
}
