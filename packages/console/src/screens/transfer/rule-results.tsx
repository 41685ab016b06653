import { Badge, Text } from '@mantine/core'
import type { RuleResult, Transfer } from '@penstock/wire'
import { DataTable } from '../../components/resource-table.tsx'
import { Section } from '../../components/section.tsx'
import { connectionRules as say } from '../../strings/connection-rules.ts'

const colorOf = ({ outcome, action }: RuleResult): string => {
  if (outcome !== 'broken') return outcome === 'kept' ? 'green' : 'gray'
  return action === 'stop' ? 'red' : 'yellow'
}

/** The results of the rules of a transfer; nothing if it has none. */
export function RuleResults({ transfer: { rules } }: { transfer: Transfer }) {
  if (rules.length === 0) return null
  return (
    <Section title={say.results}>
      <DataTable
        label={say.results}
        minWidth={280}
        horizontalSpacing="sm"
        fz="sm"
        rows={rules.map((result, place) => ({ ...result, place }))}
        columns={[
          {
            header: say.check,
            wraps: true,
            cell: ({ check, message }) => (
              <>
                <Text size="sm" fw={600}>
                  {say.checks[check]}
                </Text>
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {message}
                </Text>
              </>
            ),
          },
          {
            header: say.outcome,
            cell: (result) => (
              <Badge color={colorOf(result)} variant="light">
                {say.outcomes[result.outcome]}
              </Badge>
            ),
          },
        ]}
      />
    </Section>
  )
}
