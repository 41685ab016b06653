import { Button, Group, Text } from '@mantine/core'
import { IconAlertTriangle, IconShieldCheck } from '@tabler/icons-react'
import { useState } from 'react'
import { useForbidden, useMe } from '../../api/me.ts'
import { readNow, useRead } from '../../api/queries.ts'
import { Failure } from '../../components/failure.tsx'
import { count } from '../../components/numbers.ts'
import { audit as say } from '../../strings/audit.ts'

/**
 * Whether the log is as it was written. The first part is verified when the page opens: mostly this is the whole log. A
 * longer log is verified on request, part by part. A person who is limited to sub-accounts sees only a part of the log.
 */
export function Verified() {
  const forbidden = useForbidden('verifyAudit')
  const me = useMe()
  const first = useRead('verifyAudit', {}, { enabled: me?.accountIds === null && forbidden === undefined })
  const [rest, setRest] = useState<NonNullable<typeof first.data>['reply']>()
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  if (!first.data) return null
  const { problem, next, number, lastNumber, removed } = rest ?? first.data.reply
  const verifyRest = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      for (let after = next; after !== null; ) {
        const { reply } = await readNow('verifyAudit', { query: { after } })
        after = reply.next
        setRest(reply)
      }
    } catch (error) {
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }
  if (failure !== undefined) return <Failure error={failure} onRetry={() => void verifyRest()} />
  if (lastNumber === 0) return null
  return (
    <Group gap="xs" justify="flex-end" role="status">
      {problem ? (
        <>
          <IconAlertTriangle size={18} color="var(--mantine-color-error)" aria-hidden />
          <Text size="sm" c="var(--mantine-color-error)" fw={550}>
            {problem.message} {say.askOperator}
          </Text>
        </>
      ) : (
        <>
          <IconShieldCheck size={18} color="var(--mantine-color-teal-filled)" aria-hidden />
          <Text size="sm">
            {next === null
              ? say.verified(count(lastNumber - removed))
              : say.verifiedPart(count(number - removed), count(lastNumber - removed))}
          </Text>
          {next !== null && (
            <Button size="compact-sm" variant="default" loading={isBusy} onClick={() => void verifyRest()}>
              {say.verifyAll}
            </Button>
          )}
        </>
      )}
    </Group>
  )
}
