/** Loaded before the tests of a package that is to be added, so that they and the package have the kit of this program. */
import { useKit } from '@penstock/connectors/installed/use-kit'

useKit()
