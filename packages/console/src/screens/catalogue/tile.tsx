import { Badge, Box, Card, Checkbox, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconArrowsExchange } from '@tabler/icons-react'
import { memo, type ReactNode, useId } from 'react'
import { Link } from 'react-router'
import { Logo, logoOfPlatform } from '../../components/connector-name.tsx'
import { pathOf } from '../../shell/account.ts'
import { catalogue as say } from '../../strings/catalogue.ts'
import { components } from '../../strings/components.ts'
import classes from './tile.module.css'
import { kindOf } from './use-catalogue.ts'
import type { KnownConnector } from './vocabulary.ts'

export function Tiles({ label, busy = false, children }: { label: string; busy?: boolean; children: ReactNode }) {
  return (
    <SimpleGrid
      cols={{ base: 1, xs: 2, md: 3, xl: 4 }}
      spacing="md"
      role="list"
      aria-label={label}
      aria-busy={busy || undefined}
    >
      {children}
    </SimpleGrid>
  )
}

/**
 * A connector of the catalogue: a link to its page, and a box to tick while it is not added. Rendered again only if it
 * changes, since there are many of them.
 */
export const Tile = memo(function Tile({
  entry,
  accountId,
  added,
  picked,
  onToggle,
}: {
  entry: KnownConnector
  accountId: string
  added: boolean
  picked: boolean
  onToggle: (entry: KnownConnector) => void
}) {
  const id = useId()
  const { connectorId, platformId, name, supportedType, dataType, dataTypeCategory, transfer } = entry
  const kinds = [...new Set([dataTypeCategory, dataType].map(components.term))]
  return (
    <Box role="listitem" className={classes.place}>
      <Card withBorder padding="md" className={classes.tile} data-picked={picked || undefined}>
        <Stack gap="sm" h="100%">
          <Group gap="sm" wrap="nowrap" align="flex-start">
            <Logo src={logoOfPlatform(platformId)} size={36} />
            <Text
              component={Link}
              to={pathOf(accountId, `catalogue/${connectorId}`)}
              className={classes.link}
              fw={600}
              size="sm"
              lh={1.35}
              lineClamp={3}
              mih={36}
              flex={1}
              aria-describedby={`${id}-about`}
            >
              {name}
            </Text>
            {!added && (
              <Checkbox
                className={classes.box}
                checked={picked}
                onChange={() => onToggle(entry)}
                aria-label={say.select(name)}
                aria-describedby={`${id}-about`}
              />
            )}
          </Group>
          <Stack gap="sm" id={`${id}-about`} justify="space-between" flex={1}>
            <Box c="dimmed" fz="xs" lh={1.4}>
              <Text inherit>{kinds.join(' · ')}</Text>
              <Text inherit>{kindOf(entry)}</Text>
            </Box>
            <Group gap={6}>
              {supportedType.split(', ').map((role) => (
                <Badge key={role} variant="default" size="sm" fw={500}>
                  {role}
                </Badge>
              ))}
              {transfer && (
                <Badge variant="light" size="sm" fw={500} leftSection={<IconArrowsExchange size={12} aria-hidden />}>
                  {say.movesData}
                </Badge>
              )}
              {added && (
                <Badge variant="light" color="teal" size="sm" fw={500}>
                  {say.isAdded}
                </Badge>
              )}
            </Group>
          </Stack>
        </Stack>
      </Card>
    </Box>
  )
})
