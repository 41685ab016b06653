import type { GraphqlTypes } from './shopify-graphql.ts'

/** Fields of types of version 2026-10, from Shopify's reference, that are not deprecated. */
export const shopifyTypes: GraphqlTypes = {
  QueryRoot:
    'customers:Customer* orders:Order* products:Product* productVariants:ProductVariant* inventoryItems:InventoryItem* draftOrders:DraftOrder* collections:Collection* abandonedCheckouts:AbandonedCheckout* codeDiscountNodes:DiscountCodeNode* events:Event*',
  Customer:
    'id firstName lastName displayName note locale state tags taxExempt verifiedEmail numberOfOrders createdAt updatedAt amountSpent:MoneyV2 defaultAddress:MailingAddress defaultEmailAddress:CustomerEmailAddress defaultPhoneNumber:CustomerPhoneNumber',
  DiscountCodeNode: 'id codeDiscount:DiscountCode',
  ...Object.fromEntries(
    ['DiscountCodeBasic', 'DiscountCodeBxgy', 'DiscountCodeFreeShipping', 'DiscountCodeApp'].map((type) => [
      type,
      'title status startsAt endsAt createdAt updatedAt usageLimit appliesOncePerCustomer asyncUsageCount codesCount:Count totalSales:MoneyV2 codes:DiscountRedeemCode*',
    ]),
  ),
  Event: 'id action createdAt message',
  BasicEvent: 'id action createdAt message subjectId subjectType',
  DiscountRedeemCode: 'id code asyncUsageCount',
  CustomerEmailAddress: 'emailAddress marketingState marketingOptInLevel marketingUpdatedAt',
  CustomerPhoneNumber: 'phoneNumber smsMarketingConsent:CustomerSmsMarketingConsent',
  CustomerSmsMarketingConsent: 'state optInLevel updatedAt',
  MailingAddress:
    'firstName lastName company address1 address2 city province provinceCode country countryCodeV2 zip phone',
  MoneyV2: 'amount currencyCode',
  MoneyBag: 'shopMoney:MoneyV2 presentmentMoney:MoneyV2',
  Attribute: 'key value',
  Count: 'count precision',
  Order:
    'id name email phone displayFinancialStatus displayFulfillmentStatus returnStatus currencyCode presentmentCurrencyCode taxesIncluded discountCodes paymentGatewayNames tags note customAttributes:Attribute[] sourceName sourceIdentifier poNumber test cancelReason processedAt cancelledAt closedAt createdAt updatedAt customer:Customer subtotalPriceSet:MoneyBag totalDiscountsSet:MoneyBag totalShippingPriceSet:MoneyBag totalTaxSet:MoneyBag totalPriceSet:MoneyBag currentTotalPriceSet:MoneyBag totalRefundedSet:MoneyBag totalOutstandingSet:MoneyBag shippingAddress:MailingAddress billingAddress:MailingAddress lineItems:LineItem*',
  LineItem:
    'id sku title variantTitle vendor quantity currentQuantity refundableQuantity requiresShipping taxable isGiftCard customAttributes:Attribute[] product:Product variant:ProductVariant originalUnitPriceSet:MoneyBag discountedUnitPriceAfterAllDiscountsSet:MoneyBag originalTotalSet:MoneyBag totalDiscountSet:MoneyBag',
  Product:
    'id title handle status vendor productType tags descriptionHtml totalInventory isGiftCard onlineStoreUrl publishedAt createdAt updatedAt category:TaxonomyCategory variantsCount:Count priceRangeV2:ProductPriceRangeV2 featuredMedia:Media seo:SEO',
  TaxonomyCategory: 'id fullName name',
  ProductPriceRangeV2: 'minVariantPrice:MoneyV2 maxVariantPrice:MoneyV2',
  Media: 'id alt preview:MediaPreviewImage',
  MediaPreviewImage: 'image:Image status',
  Image: 'id url altText',
  SEO: 'title description',
  ProductVariant:
    'id title displayName sku barcode position price compareAtPrice availableForSale inventoryQuantity inventoryPolicy taxable selectedOptions:SelectedOption[] createdAt updatedAt product:Product inventoryItem:InventoryItem',
  SelectedOption: 'name value',
  InventoryItem:
    'id sku tracked requiresShipping countryCodeOfOrigin provinceCodeOfOrigin harmonizedSystemCode createdAt updatedAt unitCost:MoneyV2 measurement:InventoryItemMeasurement inventoryLevels:InventoryLevel*',
  InventoryItemMeasurement: 'id weight:Weight',
  Weight: 'unit value',
  InventoryLevel: 'id isActive createdAt updatedAt location:Location quantities:InventoryQuantity[]',
  InventoryQuantity: 'id name quantity',
  Location: 'id name',
  DraftOrder:
    'id name status email phone currencyCode taxExempt discountCodes tags note2 customAttributes:Attribute[] poNumber invoiceUrl invoiceSentAt completedAt createdAt updatedAt customer:Customer order:Order subtotalPriceSet:MoneyBag totalDiscountsSet:MoneyBag totalShippingPriceSet:MoneyBag totalTaxSet:MoneyBag totalPriceSet:MoneyBag shippingAddress:MailingAddress billingAddress:MailingAddress',
  Collection:
    'id title handle descriptionHtml sortOrder updatedAt productsCount:Count image:Image seo:SEO products:Product*',
  AbandonedCheckout:
    'id name abandonedCheckoutUrl note discountCodes customAttributes:Attribute[] completedAt createdAt updatedAt customer:Customer totalPriceSet:MoneyBag subtotalPriceSet:MoneyBag totalDiscountSet:MoneyBag totalTaxSet:MoneyBag shippingAddress:MailingAddress billingAddress:MailingAddress',
}

/** The access scope without which the objects of a connection are not given out. */
export const scopeOfRoot: Readonly<Record<string, string>> = {
  customers: 'read_customers',
  orders: 'read_orders',
  products: 'read_products',
  productVariants: 'read_products',
  inventoryItems: 'read_inventory',
  draftOrders: 'read_draft_orders',
  collections: 'read_products',
  abandonedCheckouts: 'read_orders',
  codeDiscountNodes: 'read_discounts',
  events: 'read_products',
}
