import {
  address,
  attributes,
  decimal,
  double,
  flag,
  instant,
  json,
  money,
  quantities,
  type Stream,
  text,
  whole,
} from './stream-columns.ts'

const currencyOf = (at: string) => text('currency', `${at}.shopMoney.currencyCode`)
const times = [instant('created_at', 'createdAt'), instant('updated_at', 'updatedAt')]

const customers: Stream = {
  root: 'customers',
  scopes: 'read_customers',
  changes: 'day',
  columns: [
    text('id', 'id'),
    text('email', 'defaultEmailAddress.emailAddress'),
    text('email_marketing_state', 'defaultEmailAddress.marketingState'),
    text('email_marketing_opt_in_level', 'defaultEmailAddress.marketingOptInLevel'),
    instant('email_marketing_updated_at', 'defaultEmailAddress.marketingUpdatedAt'),
    text('phone', 'defaultPhoneNumber.phoneNumber'),
    text('sms_marketing_state', 'defaultPhoneNumber.smsMarketingConsent.state'),
    instant('sms_marketing_updated_at', 'defaultPhoneNumber.smsMarketingConsent.updatedAt'),
    text('first_name', 'firstName'),
    text('last_name', 'lastName'),
    text('state', 'state'),
    json('tags', 'tags'),
    text('note', 'note'),
    text('locale', 'locale'),
    flag('tax_exempt', 'taxExempt'),
    flag('verified_email', 'verifiedEmail'),
    whole('number_of_orders', 'numberOfOrders'),
    decimal('amount_spent', 'amountSpent.amount'),
    text('amount_spent_currency', 'amountSpent.currencyCode'),
    ...address('address_', 'defaultAddress'),
    ...times,
  ],
}

const orders: Stream = {
  root: 'orders',
  scopes: 'read_orders, read_customers',
  changes: 'time',
  columns: [
    text('id', 'id'),
    text('name', 'name'),
    text('customer_id', 'customer.id'),
    text('email', 'email'),
    text('phone', 'phone'),
    text('financial_status', 'displayFinancialStatus'),
    text('fulfillment_status', 'displayFulfillmentStatus'),
    text('return_status', 'returnStatus'),
    text('currency', 'currencyCode'),
    money('subtotal_price', 'subtotalPriceSet'),
    money('total_discounts', 'totalDiscountsSet'),
    money('total_shipping_price', 'totalShippingPriceSet'),
    money('total_tax', 'totalTaxSet'),
    money('total_price', 'totalPriceSet'),
    money('current_total_price', 'currentTotalPriceSet'),
    money('total_refunded', 'totalRefundedSet'),
    money('total_outstanding', 'totalOutstandingSet'),
    text('presentment_currency', 'presentmentCurrencyCode'),
    decimal('presentment_total_price', 'totalPriceSet.presentmentMoney.amount'),
    flag('taxes_included', 'taxesIncluded'),
    json('discount_codes', 'discountCodes'),
    json('payment_gateway_names', 'paymentGatewayNames'),
    json('tags', 'tags'),
    text('note', 'note'),
    attributes,
    text('source_name', 'sourceName'),
    text('source_identifier', 'sourceIdentifier'),
    text('po_number', 'poNumber'),
    flag('test', 'test'),
    text('cancel_reason', 'cancelReason'),
    ...address('shipping_', 'shippingAddress'),
    ...address('billing_', 'billingAddress'),
    instant('processed_at', 'processedAt'),
    instant('cancelled_at', 'cancelledAt'),
    instant('closed_at', 'closedAt'),
    ...times,
  ],
}

const lineItems: Stream = {
  root: 'orders',
  child: 'lineItems',
  parent: 'order_id',
  scopes: 'read_orders, read_products',
  changes: 'time',
  columns: [
    text('id', 'id'),
    text('product_id', 'product.id'),
    text('variant_id', 'variant.id'),
    text('sku', 'sku'),
    text('title', 'title'),
    text('variant_title', 'variantTitle'),
    text('vendor', 'vendor'),
    whole('quantity', 'quantity'),
    whole('current_quantity', 'currentQuantity'),
    whole('refundable_quantity', 'refundableQuantity'),
    currencyOf('originalUnitPriceSet'),
    money('unit_price', 'originalUnitPriceSet'),
    money('discounted_unit_price', 'discountedUnitPriceAfterAllDiscountsSet'),
    money('total_price', 'originalTotalSet'),
    money('total_discount', 'totalDiscountSet'),
    flag('requires_shipping', 'requiresShipping'),
    flag('taxable', 'taxable'),
    flag('is_gift_card', 'isGiftCard'),
    attributes,
  ],
}

const products: Stream = {
  root: 'products',
  scopes: 'read_products',
  changes: 'time',
  columns: [
    text('id', 'id'),
    text('title', 'title'),
    text('handle', 'handle'),
    text('status', 'status'),
    text('vendor', 'vendor'),
    text('product_type', 'productType'),
    text('category', 'category.fullName'),
    json('tags', 'tags'),
    text('description_html', 'descriptionHtml'),
    whole('variants', 'variantsCount.count'),
    whole('total_inventory', 'totalInventory'),
    text('currency', 'priceRangeV2.minVariantPrice.currencyCode'),
    decimal('price_min', 'priceRangeV2.minVariantPrice.amount'),
    decimal('price_max', 'priceRangeV2.maxVariantPrice.amount'),
    flag('is_gift_card', 'isGiftCard'),
    text('online_store_url', 'onlineStoreUrl'),
    text('image_url', 'featuredMedia.preview.image.url'),
    text('seo_title', 'seo.title'),
    text('seo_description', 'seo.description'),
    instant('published_at', 'publishedAt'),
    ...times,
  ],
}

const variants: Stream = {
  root: 'productVariants',
  scopes: 'read_products',
  changes: 'time',
  columns: [
    text('id', 'id'),
    text('product_id', 'product.id'),
    text('inventory_item_id', 'inventoryItem.id'),
    text('title', 'title'),
    text('display_name', 'displayName'),
    text('sku', 'sku'),
    text('barcode', 'barcode'),
    whole('position', 'position'),
    text('currency', 'product.priceRangeV2.minVariantPrice.currencyCode'),
    decimal('price', 'price'),
    decimal('compare_at_price', 'compareAtPrice'),
    flag('available_for_sale', 'availableForSale'),
    whole('inventory_quantity', 'inventoryQuantity'),
    text('inventory_policy', 'inventoryPolicy'),
    flag('taxable', 'taxable'),
    json('selected_options', 'selectedOptions', ['name', 'value']),
    ...times,
  ],
}

const inventoryItems: Stream = {
  root: 'inventoryItems',
  scopes: 'read_inventory',
  changes: 'time',
  columns: [
    text('id', 'id'),
    text('sku', 'sku'),
    flag('tracked', 'tracked'),
    flag('requires_shipping', 'requiresShipping'),
    decimal('unit_cost', 'unitCost.amount'),
    text('unit_cost_currency', 'unitCost.currencyCode'),
    text('country_code_of_origin', 'countryCodeOfOrigin'),
    text('province_code_of_origin', 'provinceCodeOfOrigin'),
    text('harmonized_system_code', 'harmonizedSystemCode'),
    double('weight', 'measurement.weight.value'),
    text('weight_unit', 'measurement.weight.unit'),
    ...times,
  ],
}

const inventoryLevels: Stream = {
  root: 'inventoryItems',
  child: 'inventoryLevels',
  parent: 'inventory_item_id',
  scopes: 'read_inventory, read_locations',
  columns: [
    text('id', 'id'),
    text('location_id', 'location.id'),
    text('location_name', 'location.name'),
    ...quantities(
      'available',
      'on_hand',
      'committed',
      'incoming',
      'reserved',
      'damaged',
      'quality_control',
      'safety_stock',
    ),
    ...times,
  ],
}

const draftOrders: Stream = {
  root: 'draftOrders',
  scopes: 'read_draft_orders, read_orders, read_customers',
  changes: 'time',
  columns: [
    text('id', 'id'),
    text('name', 'name'),
    text('status', 'status'),
    text('customer_id', 'customer.id'),
    text('order_id', 'order.id'),
    text('email', 'email'),
    text('phone', 'phone'),
    text('currency', 'currencyCode'),
    money('subtotal_price', 'subtotalPriceSet'),
    money('total_discounts', 'totalDiscountsSet'),
    money('total_shipping_price', 'totalShippingPriceSet'),
    money('total_tax', 'totalTaxSet'),
    money('total_price', 'totalPriceSet'),
    flag('tax_exempt', 'taxExempt'),
    json('discount_codes', 'discountCodes'),
    json('tags', 'tags'),
    text('note', 'note2'),
    attributes,
    text('po_number', 'poNumber'),
    text('invoice_url', 'invoiceUrl'),
    instant('invoice_sent_at', 'invoiceSentAt'),
    ...address('shipping_', 'shippingAddress'),
    ...address('billing_', 'billingAddress'),
    instant('completed_at', 'completedAt'),
    ...times,
  ],
}

const collections: Stream = {
  root: 'collections',
  scopes: 'read_products',
  changes: 'time',
  columns: [
    text('id', 'id'),
    text('title', 'title'),
    text('handle', 'handle'),
    text('description_html', 'descriptionHtml'),
    text('sort_order', 'sortOrder'),
    whole('products', 'productsCount.count'),
    text('image_url', 'image.url'),
    text('seo_title', 'seo.title'),
    text('seo_description', 'seo.description'),
    instant('updated_at', 'updatedAt'),
  ],
}

const collectionProducts: Stream = {
  root: 'collections',
  child: 'products',
  parent: 'collection_id',
  scopes: 'read_products',
  columns: [text('product_id', 'id')],
}

const abandonedCheckouts: Stream = {
  root: 'abandonedCheckouts',
  scopes: 'read_orders, read_customers',
  changes: 'time',
  columns: [
    text('id', 'id'),
    text('name', 'name'),
    text('customer_id', 'customer.id'),
    text('customer_email', 'customer.defaultEmailAddress.emailAddress'),
    text('customer_phone', 'customer.defaultPhoneNumber.phoneNumber'),
    text('recovery_url', 'abandonedCheckoutUrl'),
    currencyOf('totalPriceSet'),
    money('subtotal_price', 'subtotalPriceSet'),
    money('total_discounts', 'totalDiscountSet'),
    money('total_tax', 'totalTaxSet'),
    money('total_price', 'totalPriceSet'),
    json('discount_codes', 'discountCodes'),
    text('note', 'note'),
    attributes,
    ...address('shipping_', 'shippingAddress'),
    ...address('billing_', 'billingAddress'),
    instant('completed_at', 'completedAt'),
    ...times,
  ],
}

const discountTypes = {
  at: 'codeDiscount',
  types: ['DiscountCodeBasic', 'DiscountCodeBxgy', 'DiscountCodeFreeShipping', 'DiscountCodeApp'],
}

const discounts: Stream = {
  root: 'codeDiscountNodes',
  scopes: 'read_discounts',
  changes: 'time',
  union: discountTypes,
  columns: [
    text('id', 'id'),
    text('title', 'codeDiscount.title'),
    text('status', 'codeDiscount.status'),
    whole('codes', 'codeDiscount.codesCount.count'),
    whole('usage_count', 'codeDiscount.asyncUsageCount'),
    whole('usage_limit', 'codeDiscount.usageLimit'),
    flag('once_per_customer', 'codeDiscount.appliesOncePerCustomer'),
    decimal('total_sales', 'codeDiscount.totalSales.amount'),
    text('currency', 'codeDiscount.totalSales.currencyCode'),
    instant('starts_at', 'codeDiscount.startsAt'),
    instant('ends_at', 'codeDiscount.endsAt'),
    instant('created_at', 'codeDiscount.createdAt'),
    instant('updated_at', 'codeDiscount.updatedAt'),
  ],
}

const discountCodes: Stream = {
  root: 'codeDiscountNodes',
  child: 'codeDiscount.codes',
  parent: 'discount_id',
  scopes: 'read_discounts',
  union: discountTypes,
  columns: [text('id', 'id'), text('code', 'code'), whole('usage_count', 'asyncUsageCount')],
}

/** Events of objects that were deleted. */
const deletions: Stream = {
  root: 'events',
  scopes: 'read_products',
  changes: 'time',
  changedAt: 'created_at',
  filter: 'action:destroy',
  union: { at: '', types: ['BasicEvent'] },
  columns: [
    text('id', 'id'),
    text('subject_type', 'subjectType'),
    text('subject_id', 'subjectId'),
    instant('deleted_at', 'createdAt'),
  ],
}

/** The streams by the names that people choose from. */
export const streams = {
  Customers: customers,
  Orders: orders,
  'Order line items': lineItems,
  Products: products,
  'Product variants': variants,
  'Inventory items': inventoryItems,
  'Inventory levels': inventoryLevels,
  'Draft orders': draftOrders,
  Collections: collections,
  'Collection products': collectionProducts,
  'Abandoned checkouts': abandonedCheckouts,
  Discounts: discounts,
  'Discount codes': discountCodes,
  Deletions: deletions,
} as const satisfies Readonly<Record<string, Stream>>

/**
 * Why a stream has no range, as the end of a sentence that begins with the name of the connector. `undefined` if it has one.
 * @param name the name in the settings; the transfer refuses an unknown name
 */
export function whyNoRange(name: unknown): string | undefined {
  const stream = Object.entries<Stream>(streams).find(([one]) => one === name)?.[1]
  if (!stream || stream.changes) return undefined
  return `cannot say when ${String(name).toLowerCase()} changed: choose another stream`
}

/** The names of the streams, in the order of a form. */
export const streamNames = Object.keys(streams) as readonly (keyof typeof streams)[]
