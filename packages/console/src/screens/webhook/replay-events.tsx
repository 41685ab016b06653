import { Checkbox, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { Failure } from '../../components/failure.tsx'
import { FormButtons } from '../../components/form-buttons.tsx'
import { notifyDone } from '../../components/notify.tsx'
import { count } from '../../components/numbers.ts'
import { webhooks as say } from '../../strings/webhooks.ts'

/** Sends the events since a time again. */
export function ReplayEvents({ webhookId, onClose }: { webhookId: string; onClose: () => void }) {
  const replay = useWrite('replayWebhook')
  const [since, setSince] = useState('')
  const [onlyFailed, setOnlyFailed] = useState(true)
  const [error, setError] = useState<string>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const seconds = Math.floor(Date.parse(since) / 1000)
    const isPast = seconds > 0 && seconds * 1000 <= Date.now()
    setError(isPast ? undefined : say.pickSince)
    if (!isPast) return
    const body = { since: seconds, ...(onlyFailed ? { status: 'failed' as const } : {}) }
    const done = ({ reply: { replayed, complete } }: { reply: { replayed: number; complete: boolean } }) => {
      notifyDone((complete ? say.replayed : say.replayedSome)(count(replayed)))
      onClose()
    }
    replay.mutate({ id: webhookId, body }, { onSuccess: done })
  }
  return (
    <Modal opened onClose={onClose} title={say.replayTitle}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{say.replayHelp}</Text>
          <TextInput
            type="datetime-local"
            label={say.since}
            required
            data-autofocus
            value={since}
            error={error}
            onChange={({ currentTarget }) => setSince(currentTarget.value)}
          />
          <Checkbox
            label={say.onlyFailed}
            checked={onlyFailed}
            onChange={({ currentTarget }) => setOnlyFailed(currentTarget.checked)}
          />
          {replay.error && <Failure error={replay.error} />}
          <FormButtons busy={replay.isPending} action={say.replay} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  )
}
