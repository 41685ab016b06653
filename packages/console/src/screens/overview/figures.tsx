import { Anchor, Card, SimpleGrid, Skeleton, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'

export type Figure = {
  label: string
  /** Undefined while it is not known. */
  value: string | undefined
  /** The figure in full, if it is shortened. */
  exactly?: string | undefined
  note?: ReactNode
  to: string
}

/** The numbers that matter, each of which leads to what it counts. */
export function Figures({ figures }: { figures: readonly Figure[] }) {
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
      {figures.map(({ label, value, exactly, note, to }) => (
        <Card key={label} withBorder padding="md">
          <Anchor component={Link} to={to} size="sm" c="dimmed" fw={500}>
            {label}
          </Anchor>
          {value === undefined ? (
            // As high as the figure: 28 px in lines of 1.3.
            <Skeleton height={28} width="60%" my={4.2} />
          ) : (
            <Text fz={28} fw={650} lh={1.3} className="figures" {...(exactly ? { title: exactly } : {})}>
              {value}
            </Text>
          )}
          <Text size="xs" c="dimmed" mih={{ base: 36, md: 18 }}>
            {note}
          </Text>
        </Card>
      ))}
    </SimpleGrid>
  )
}
