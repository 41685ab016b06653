import { Code, Group, Modal, Stack, Text, Title } from '@mantine/core'
import type { WebhookAttempt, WebhookDelivery } from '@penstock/wire'
import { IconRepeat } from '@tabler/icons-react'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { CopyField } from '../../components/copy-field.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyOutcome } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Time } from '../../components/time.tsx'
import { webhooks as say } from '../../strings/webhooks.ts'
import { DeliveryBadge } from '../webhooks/webhook-state.tsx'

const againAfterMs = 2_000

/** The request of a delivery, and the response to each attempt. */
export function DeliveryDetails({ delivery, onClose }: { delivery: WebhookDelivery; onClose: () => void }) {
  const { id, eventType } = delivery
  const query = useRead('getWebhookDelivery', { id }, { againAfterMs })
  const forbidden = useForbidden('replayWebhookDelivery')
  const replay = useWrite('replayWebhookDelivery')
  const again = () => void notifyOutcome(replay.mutateAsync({ id }), say.replayedOne)
  return (
    <Modal opened onClose={onClose} title={say.delivery(eventType)} size="xl">
      <Loaded query={query} lines={6}>
        {({ reply }) => (
          <Stack>
            <Group justify="space-between">
              <DeliveryBadge delivery={reply} />
              <ReasonedButton
                size="compact-md"
                variant="default"
                leftSection={<IconRepeat size={16} aria-hidden />}
                reason={forbidden}
                loading={replay.isPending}
                onClick={again}
              >
                {say.replayOne}
              </ReasonedButton>
            </Group>
            <CopyField label={say.eventId} value={reply.eventId} />
            <div>
              <Title order={3} size="h6" mb={4}>
                {say.request}
              </Title>
              <Block label={say.request}>{pretty(reply.payload)}</Block>
            </div>
            {reply.log.length === 0 && (
              <Text size="sm" c="dimmed">
                {say.noAttempt}
              </Text>
            )}
            {reply.log.map((attempt) => (
              <Attempt key={attempt.number} attempt={attempt} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Modal>
  )
}

function Attempt({ attempt }: { attempt: WebhookAttempt }) {
  const { number, time, durationMs, responseStatus, errorMessage, headers, body } = attempt
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Title order={3} size="h6">
          {say.attempt(count(number))}: {answerOf(attempt)}
        </Title>
        <Text size="sm" c="dimmed">
          <Time seconds={time} /> · {say.took(count(durationMs))}
        </Text>
      </Group>
      {responseStatus === null ? (
        <Text size="sm">{errorMessage ?? say.noAnswer}</Text>
      ) : (
        <Block label={say.answer}>{`${lines.join('\n')}\n\n${body || say.emptyBody}`}</Block>
      )}
    </div>
  )
}

function Block({ label, children }: { label: string; children: string }) {
  return (
    <Code block mah={260} tabIndex={0} role="region" aria-label={label} style={{ overflow: 'auto' }}>
      {children}
    </Code>
  )
}

/** The body with line breaks, to read; what is sent has other spaces. */
function pretty(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return payload
  }
}

/** The last response, in a few words. */
export const answerOf = ({ responseStatus, errorCode }: Pick<WebhookDelivery, 'responseStatus' | 'errorCode'>) =>
  responseStatus === null ? (errorCode ?? '–') : say.httpStatus(responseStatus)
