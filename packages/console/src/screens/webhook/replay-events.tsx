import { Checkbox, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { count } from '../../components/numbers.ts'
import { webhooks as say } from '../../strings/webhooks.ts'

/** Sends the events since a time again. */
export function ReplayEvents({ webhookId, onClose }: { webhookId: string; onClose: () => void }) {
  const replay = useWrite('replayWebhook')
  const [since, setSince] = useState('')
  const [onlyFailed, setOnlyFailed] = useState(true)
  const seconds = Math.floor(Date.parse(since) / 1000)
  const isPast = seconds > 0 && seconds * 1000 <= Date.now()
  const send = async () => {
    const body = { since: seconds, ...(onlyFailed ? { status: 'failed' as const } : {}) }
    const { replayed, complete } = (await replay.mutateAsync({ id: webhookId, body })).reply
    return (complete ? say.replayed : say.replayedSome)(count(replayed))
  }
  return (
    <FormDialog
      title={say.replayTitle}
      action={say.replay}
      invalid={{ since: !isPast && say.pickSince }}
      onSubmit={send}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <Text size="sm">{say.replayHelp}</Text>
          <TextInput
            type="datetime-local"
            label={say.since}
            required
            data-autofocus
            value={since}
            error={errorOf('since')}
            onChange={({ currentTarget }) => setSince(currentTarget.value)}
          />
          <Checkbox
            label={say.onlyFailed}
            checked={onlyFailed}
            onChange={({ currentTarget }) => setOnlyFailed(currentTarget.checked)}
          />
        </>
      )}
    </FormDialog>
  )
}
