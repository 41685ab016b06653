import { Badge, Button, Card, Group, Text, Title } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { count } from '../../../components/numbers.ts'
import { mapper as say } from '../../../strings/mapper.ts'
import type { MappedField } from '../mapping/mapped-fields.ts'
import classes from './mapper.module.css'
import type { OnSet } from './shared.ts'

/** The title of a group of fields, and how many it has. */
export function GroupTitle({
  title,
  n,
  help,
  children,
}: {
  title: string
  n: number
  help?: string | undefined
  children?: ReactNode
}) {
  return (
    <div className={classes.group}>
      <Title order={2} size="h6">
        {title}
      </Title>
      <Badge variant="default" size="sm">
        {count(n)}
      </Badge>
      {help && (
        <Text size="xs" c="dimmed">
          {help}
        </Text>
      )}
      {children}
    </div>
  )
}

const offeredMax = 6

/** One of several fields is enough, and none is filled: what could. */
export function NothingIdentifies({ fields, onSet }: { fields: readonly MappedField[]; onSet: OnSet }) {
  const labels = [...new Set(fields.map(({ record }) => say.labelOf(record.name)))]
  const offered = fields
    .flatMap(({ record, candidates }) => candidates.map((column) => ({ name: record.name, column })))
    .slice(0, offeredMax)
  return (
    <Card radius={0} padding="md" component="section" aria-label={say.oneOfTitle}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <IconAlertTriangle size={18} color="var(--mantine-color-orange-filled)" aria-hidden style={{ flexShrink: 0 }} />
        <div>
          <Text size="sm" fw={600}>
            {say.oneOfTitle}
          </Text>
          <Text size="sm">{say.oneOf(labels.join(', '))}</Text>
          <Group gap="xs" mt={offered.length > 0 ? 8 : 0}>
            {offered.map(({ name, column }) => (
              <Button
                key={`${name} ${column}`}
                size="xs"
                variant="default"
                onClick={() => onSet(name, { kind: 'column', column })}
              >
                {say.use(column, say.labelOf(name))}
              </Button>
            ))}
          </Group>
        </div>
      </Group>
    </Card>
  )
}
