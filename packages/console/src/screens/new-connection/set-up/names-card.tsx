import { Box, Stack, Text, VisuallyHidden } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import type { FormValues } from '../../../components/fields/form-field.ts'
import { Section } from '../../../components/section.tsx'
import { useFirst } from '../../../components/use-first.tsx'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { namesAtDestination } from './table-names.ts'

const shownMax = 10

/** Where each of many tables is written; nothing for one table. */
export function TableNames({ source, destination }: { source: FormValues; destination: FormValues }) {
  const names = namesAtDestination(source, destination)
  const { shown, more } = useFirst(names, shownMax)
  if (names.length === 0) return null
  return (
    <Section title={say.tableNames} help={say.tableNamesHelp} region>
      <Stack component="ul" gap={6} m={0} p={0} style={{ listStyle: 'none', overflowWrap: 'anywhere' }}>
        {shown.map(({ from, to }) => (
          <Box component="li" key={from} fz="sm" ff="monospace">
            {from} <IconArrowRight size={14} aria-hidden style={{ verticalAlign: 'middle' }} />
            <VisuallyHidden> {say.isWrittenTo} </VisuallyHidden>{' '}
            <Text span inherit fw={600}>
              {to}
            </Text>
          </Box>
        ))}
      </Stack>
      {more}
    </Section>
  )
}
