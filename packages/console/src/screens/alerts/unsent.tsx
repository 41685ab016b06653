import { Alert, Stack, Text } from '@mantine/core'
import { type AlertRule, limits } from '@penstock/wire'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useForbidden } from '../../api/me.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import { count } from '../../components/numbers.ts'
import { alerts as say } from '../../strings/alerts.ts'

type Unsent = Pick<AlertRule, 'id' | 'name' | 'deliveryError'>

/** Names the rules whose messages reach nobody, under each cause. */
export function UnsentRules({ rules }: { rules: readonly Unsent[] }) {
  const unsent = rules.filter(({ deliveryError }) => deliveryError !== null)
  if (unsent.length === 0) return null
  const byCause = Map.groupBy(unsent, ({ deliveryError }) => deliveryError?.message ?? '')
  return (
    <Alert
      color="orange"
      icon={<IconAlertTriangle aria-hidden />}
      title={say.unsent(count(unsent.length), unsent.length === 1)}
      role="status"
    >
      <Stack gap={4}>
        {[...byCause].map(([message, of]) => (
          <Text key={message} size="sm" style={{ overflowWrap: 'anywhere' }}>
            {of.map(({ name }) => name).join(', ')}: {message}
          </Text>
        ))}
      </Stack>
    </Alert>
  )
}

const allRules = { query: { size: limits.pageSizeMax } }

/** Reads ahead what `useUnsentRules` reads. A person who cannot see rules misses nothing. */
export const readRules = (): Promise<unknown> => readOnce('listAlertRules', allRules).catch(() => {})

/** The rules of a page whose messages reach nobody. @returns undefined while they are read */
export function useUnsentRules(accountId: string | undefined): readonly Unsent[] | undefined {
  const enabled = useForbidden('listAlertRules') === undefined
  const query = useRead('listAlertRules', allRules, { enabled })
  if (query.isLoading) return undefined
  const rules = query.data?.reply ?? []
  return rules.filter((one) => !accountId || [null, accountId].includes(one.accountId))
}
